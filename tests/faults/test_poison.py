"""Records that no worker can handle, between good ones, on a real Kafka: each becomes a dead letter, the rest go on."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from schemas.topics import DEAD_LETTERS, DRAFTS, MAX_MESSAGE_BYTES
from tests.faults.checker import most_common, read
from tests.faults.scene import Out, Scene, load
from workers.runtime.connection import Connection
from workers.runtime.topic_admin import topic_admin
from workers.runtime.topic_plan import Alter

pytestmark = [pytest.mark.anyio, pytest.mark.real]

ITEMS = 40
LARGE = 10 * 1024 * 1024

VERDICT = json.dumps({"type": "draft_verdict", "item_id": "sku-1", "event_id": "e"}).encode()
GOOD = {"item_id": "sku-7", "text": "PASS", "context": {"instruction": "x"}}


def good(**fields: object) -> bytes:
    return json.dumps(GOOD | fields, ensure_ascii=False).encode("utf-8", "surrogatepass")


POISON = {
    "no JSON": Out(b"sku-1", b"{ not json"),
    "no object": Out(b"sku-2", b"[1, 2]"),
    "not UTF-8": Out(b"sku-3", b'{"item_id": "\xff\xfe"}'),
    "empty": Out(b"sku-4", b""),
    "tombstone": Out(b"sku-5", None),
    "null key": Out(None, b"{"),
    "no text": Out(b"sku-6", b'{"item_id": "sku-6"}'),
    "text of another type": Out(b"sku-7", good(text=7)),
    "nested deeply": Out(b"sku-8", b"[" * 200_000),
    "NaN": Out(b"sku-9", b'{"item_id": "a", "text": "t", "attempt": NaN}'),
    "a verdict on drafts": Out(b"sku-1", VERDICT, (("ce_type", b"assay.draft_verdict.v1"),)),
    "attempt beyond the budget": Out(b"sku-7", good(attempt=9)),
    "attempt that answers nothing": Out(b"sku-7", good(attempt=1)),
    "served output would be too large": Out(b"sku-7", good(text="é" * ((MAX_MESSAGE_BYTES - 700) // 2))),
    "ten megabytes": Out(b"sku-8", b"x" * LARGE),
}

ODD_BUT_GOOD = [
    Out(b"sku-7", good(text="PASS a header that is not UTF-8"), (("traceparent", b"\xff"), ("ce_id", b"\xff"))),
    Out(None, good(text="PASS without a key")),
    Out(b"sku-7", good(text="PASS from next year", created_at="2031-01-01T00:00:00Z")),
    Out(b"sku-7", good(text="PASS with a lone surrogate").replace(b"lone", b"lone \\ud800")),
    Out(b"sku-7", good(text="PASS twice")),
    Out(b"sku-7", good(text="PASS twice")),
]


@pytest.fixture
async def scene(real_kafka: str, unique: Callable[[str], str]) -> AsyncIterator[Scene]:
    scene = Scene(real_kafka, unique("poison") + ".", delays_s="0.01,0.1", ASSAY_DEAD_LETTER_RATIO="1")
    await scene.create_topics()
    async with topic_admin(Connection((real_kafka,))) as admin:
        await admin.apply([Alter(scene.prefix + DRAFTS.name, (), {"max.message.bytes": str(2 * LARGE)})])
    yield scene
    scene.close()


def between(drafts: Iterator[Out], others: list[Out]) -> Iterator[Out]:
    for other in others:
        yield from itertools.islice(drafts, 9)
        yield other
    yield from drafts


async def test_every_kind_of_poison_becomes_a_dead_letter_and_nothing_else_does(scene: Scene) -> None:
    poison = list(POISON.values())
    published = await scene.publish(between(load(ITEMS), poison + ODD_BUT_GOOD), max_bytes=2 * LARGE)
    worker = scene.start()
    found = await scene.until_answered()
    assert scene.stop(worker) == 0, scene.logs()
    assert found.wrong == [], most_common(found)
    assert (found.dead_letters, found.verdicts) == (len(poison), published - len(poison))

    letters = await read(scene.kafka, scene.prefix + DEAD_LETTERS.name)
    values = {letter.value for letter in letters if letter.headers["assay-dlq-pointer"] == b"false"}
    kept = {out.value for out in poison if out.value != POISON["ten megabytes"].value}
    assert values == kept
    (pointer,) = [letter for letter in letters if letter.headers["assay-dlq-pointer"] == b"true"]
    assert (pointer.value or b"").startswith(b"kafka://" + scene.prefix.encode())


async def test_a_topic_full_of_poison_stops_the_worker_and_stays_where_it_is(scene: Scene) -> None:
    await scene.publish(Out(f"sku-{i}".encode(), b"{") for i in range(400))
    worker = scene.start()
    assert worker.wait(30) != 0
    assert "50 dead letters in a row (ASSAY_DEAD_LETTERS_IN_A_ROW=50): the worker stops" in scene.logs()
    found = await scene.check()
    assert 0 < found.dead_letters < 400
