"""The way back: to the original topic and partition, with the original bytes and headers, once, recorded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime

import pytest

from schemas.dead_letter import POINTER_TYPE, DeadLetter
from workers.dead_letters.register import Chosen
from workers.dead_letters.replay import Order, Outcome, read_register, replay
from workers.embedded.services import ChildServices
from workers.runtime.connection import Connection
from workers.runtime.dead_letters import DeadLetterBox
from workers.runtime.naming import Names
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.reading import read_to_end
from workers.runtime.records import InRecord, OutRecord

pytestmark = pytest.mark.anyio

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
ORDER = Order("ada", "mended the exporter", AT)
HEADERS = (("ce_id", b"id-1"), ("ce_id", b"id-2"), ("odd", b"\xff"), ("null", None))


class Scene:
    """A drafts topic and the dead letters of its worker, on the embedded broker."""

    def __init__(self, kafka: Connection, names: Names, producer: ConfirmedProducer) -> None:
        self.kafka, self.names, self.producer = kafka, names, producer
        self.drafts, self.letters = f"{names.prefix}drafts", f"{names.prefix}dead-letters"

    async def set_aside(self, record: InRecord, *, limit_bytes: int = 10_000) -> None:
        box = DeadLetterBox(topic=self.letters, limit_bytes=limit_bytes, group="assay.judge", worker="judge")
        await self.producer.produce([box.letter(record, kind="not_json", error="no JSON", at=AT)])

    async def replay(self, order: Order = ORDER) -> list[Outcome]:
        entries = (await read_register(self.kafka, self.names)).chosen(Chosen())
        return [outcome async for outcome in replay(self.kafka, self.names, entries, order)]

    async def read(self, topic: str) -> list[InRecord]:
        return [record async for record in read_to_end(self.kafka, [topic])]


@pytest.fixture
async def scene(services: ChildServices, unique: Callable[[str], str]) -> AsyncIterator[Scene]:
    kafka, names = Connection((services.kafka,)), Names(unique("replay") + ".")
    producer = ConfirmedProducer(kafka, max_message_bytes=100_000)
    scene = Scene(kafka, names, producer)
    services.create_topic(scene.drafts, 4)
    services.create_topic(scene.letters, 4)
    await producer.start()
    yield scene
    await producer.stop()


async def test_a_record_goes_back_as_it_came_to_the_partition_it_came_from(scene: Scene) -> None:
    original = InRecord(scene.drafts, 2, 7, b"sku-1", b"{ not json \xff", HEADERS)
    await scene.set_aside(original)
    assert [outcome.refused for outcome in await scene.replay()] == [None]
    (back,) = await scene.read(scene.drafts)
    assert (back.partition, back.key, back.value, back.headers) == (2, b"sku-1", b"{ not json \xff", HEADERS)


async def test_a_tombstone_and_a_record_without_a_key_go_back(scene: Scene) -> None:
    await scene.set_aside(InRecord(scene.drafts, 0, 1, b"k", None))
    await scene.set_aside(InRecord(scene.drafts, 0, 2, None, b"v"))
    assert [outcome.refused for outcome in await scene.replay()] == [None, None]
    assert sorted((r.key or b"", r.value or b"") for r in await scene.read(scene.drafts)) == [(b"", b"v"), (b"k", b"")]
    assert any(record.value is None for record in await scene.read(scene.drafts))


async def test_what_went_back_once_is_refused_unless_asked_again_and_the_record_says_who(scene: Scene) -> None:
    await scene.set_aside(InRecord(scene.drafts, 0, 7, b"sku-1", b"{"))
    await scene.replay()
    (second,) = await scene.replay()
    assert second.refused == "went back on 2026-11-30T12:00:00+00:00 by ada; --again sends it once more"
    assert len(await scene.read(scene.drafts)) == 1

    await scene.replay(ORDER._replace(again=True, operator="bob"))
    (entry,) = (await read_register(scene.kafka, scene.names)).chosen(Chosen())
    assert [(m.operator, m.reason) for m in entry.replays] == [
        ("ada", "mended the exporter"), ("bob", "mended the exporter"),
    ]  # fmt: skip
    assert len(await scene.read(scene.drafts)) == 2


async def test_a_pointer_is_followed_to_where_the_record_lies(scene: Scene) -> None:
    await scene.producer.produce([OutRecord(scene.drafts, b"sku-1", b"x" * 50_000, HEADERS[:1])])
    (large,) = await scene.read(scene.drafts)
    await scene.set_aside(large)
    (stored,) = await scene.read(scene.letters)
    assert ("ce_type", POINTER_TYPE.encode()) in stored.headers
    assert [outcome.refused for outcome in await scene.replay()] == [None]
    first, again = await scene.read(scene.drafts)
    assert (again.partition, again.value, again.headers) == (first.partition, first.value, first.headers)


async def test_a_pointer_to_a_record_that_is_gone_says_so(scene: Scene) -> None:
    await scene.set_aside(InRecord(scene.drafts, 1, 99, b"k", b"x" * 50_000))
    (outcome,) = await scene.replay()
    assert outcome.refused is not None
    assert "/1/99 is not there: nothing has been written there" in outcome.refused
    assert (await read_register(scene.kafka, scene.names)).chosen(Chosen())[0].replays == ()


@pytest.mark.parametrize("topic", ["other.drafts", "{prefix}dead-letters", "{prefix}nonsense"])
async def test_only_topics_of_the_table_get_records_back(scene: Scene, topic: str) -> None:
    await scene.set_aside(InRecord(topic.format(prefix=scene.names.prefix), 0, 1, b"k", b"v"))
    (outcome,) = await scene.replay()
    assert outcome.refused is not None
    assert "is none of ours" in outcome.refused


async def test_a_record_without_key_and_value_is_refused(scene: Scene) -> None:
    await scene.set_aside(InRecord(scene.drafts, 0, 1, None, None))
    (outcome,) = await scene.replay()
    assert outcome.refused == "it had neither key nor value; no client can write such a record"


async def test_a_partition_that_the_topic_does_not_have_is_refused_and_the_next_goes_on(scene: Scene) -> None:
    await scene.set_aside(InRecord(scene.drafts, 77, 1, b"k", b"v"))
    await scene.set_aside(InRecord(scene.drafts, 0, 2, b"k", b"v"))
    outcomes = await scene.replay()
    assert sorted(outcome.refused is None for outcome in outcomes) == [False, True]
    assert DeadLetter.from_headers((await scene.read(scene.letters))[0].headers) is not None
