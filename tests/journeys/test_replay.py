"""Recordings through the topics: a hand-made one whose answer is worked out by hand, and a real one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import aclosing

import pytest

from schemas.codec import decode
from schemas.decisions import ItemDecision
from schemas.headers import CE_TYPE, event_id_of, header
from schemas.telemetry import AttemptRecord
from schemas.topics import TELEMETRY, TOPICS
from tests.data import data_file
from workers.bom import load_bom
from workers.embedded.services import ChildServices
from workers.replay.bom import replay_bom
from workers.replay.recordings import RecordedItem, items_of, read_rows, read_side_texts
from workers.replay.run import replay
from workers.replay.tally import Summary
from workers.runtime.connection import Connection
from workers.runtime.reading import read_to_end
from workers.runtime.settings import Settings, load

pytestmark = pytest.mark.anyio


def row(item: str, generator: str, votes: str, **judges: str | None) -> str:
    """``votes``: one letter a rater, p, f or - for none; a judge's label is null where it said nothing."""
    labels = {"p": "pass", "f": "fail", "-": None}
    return json.dumps(
        {
            "item_id": f"{item}/{generator}",
            "task_context": "Describe it.",
            "source": json.dumps({"name": item}),
            "draft": f"{generator} on {item}",
            "raters": [{"label": labels[vote]} for vote in votes],
            "judges": [{"model": name, "label": label, "reason": None} for name, label in judges.items()],
            "meta": {"generator": generator, "source_ref": item},
        }
    )


# By hand, with order g1, g2, g3 and K = 2, judge "strict":
#   first    g1 passes                                        served at 0, people 2:1 fail     -> a defect
#   second   g1 fails, g2 passes                              served at 1, people 1:1          -> undecided by people
#   third    g1 is absent: g2 fails, g3 passes                served at 1, people 3:0 pass
#   fourth   g1, g2, g3 fail                                  dropped at 2
#   fifth    g1 fails and there is nobody else                dropped, out of drafts
#   sixth    g1 fails, g2: the judge said nothing             undecided, the item ends; g3 is never judged
HAND = [
    row("first", "g1", "ffp", strict="pass", lenient="pass"),
    row("second", "g1", "f", strict="fail", lenient="pass"),
    row("second", "g2", "pf", strict="pass", lenient="pass"),
    row("third", "g3", "ppp", strict="pass", lenient="pass"),
    row("third", "g2", "fff", strict="fail", lenient="pass"),
    row("fourth", "g1", "f", strict="fail", lenient="pass"),
    row("fourth", "g2", "f", strict="fail", lenient="pass"),
    row("fourth", "g3", "p", strict="fail", lenient="pass"),
    row("fifth", "g1", "---", strict="fail", lenient="pass"),
    row("sixth", "g1", "p", strict="fail", lenient="pass"),
    row("sixth", "g2", "p", strict=None, lenient="pass"),
    row("sixth", "g3", "p", strict="pass", lenient="pass"),
]
STRICT = Summary(
    items=6,
    drafts_judged=11,
    served_by_attempt=[1, 2, 0],
    dropped=2,
    undecided=1,
    exhausted=1,
    human_fail_by_attempt=[1, 0, 0],
    human_undecided_by_attempt=[0, 1, 0],
)


def items() -> list[RecordedItem]:
    return items_of(read_rows("hand", HAND), read_side_texts([]), order=["g1", "g2", "g3"])


def files(judge: str) -> Mapping[str, bytes]:
    return replay_bom(judge, "\n".join(HAND).encode(), retry_budget=2)


async def test_a_hand_made_recording_ends_as_worked_out_by_hand() -> None:
    ended: list[int] = []
    summary = await replay(items(), files("strict"), load({}), progress=ended.append)
    assert summary == STRICT
    assert (sorted(ended), ended[-1]) == (ended, 6)


@pytest.fixture
def settings(services: ChildServices, unique: Callable[[str], str]) -> Settings:
    """A cluster that has the topics of both replays already."""
    made = load(
        {"ASSAY_KAFKA": services.kafka, "ASSAY_REDIS": services.redis, "ASSAY_TOPIC_PREFIX": unique("replay") + ".",
         "ASSAY_SESSION_TIMEOUT_S": "2.5", "ASSAY_DRAIN_TIMEOUT_S": "0.5"}
    )  # fmt: skip
    for judge in ("strict", "lenient"):
        for topic in TOPICS:
            services.create_topic(prefix_of(made, judge) + topic.name, 2)
    return made


def prefix_of(settings: Settings, judge: str) -> str:
    return f"{settings.topic_prefix}replay-{load_bom(files(judge)).version.removeprefix('bom-')}."


async def telemetry(settings: Settings, judge: str) -> tuple[list[str], list[AttemptRecord]]:
    """Event ids in order, and the attempts' records."""
    ids: list[str] = []
    attempts: list[AttemptRecord] = []
    topic = prefix_of(settings, judge) + TELEMETRY.name
    async with aclosing(read_to_end(Connection(tuple(settings.kafka_servers)), [topic])) as records:
        async for record in records:
            message = decode(TELEMETRY, record.value, ce_type=header(record.headers, CE_TYPE)).message
            assert isinstance(message, AttemptRecord | ItemDecision)
            assert event_id_of(record.headers) == message.event_id
            ids.append(message.event_id)
            attempts += [message] if isinstance(message, AttemptRecord) else []
    return ids, attempts


async def test_a_second_run_repeats_every_id_and_counts_nothing_twice(settings: Settings) -> None:
    first = await replay(items(), files("strict"), settings, progress=lambda _: None)
    ids, _ = await telemetry(settings, "strict")
    again = await replay(items(), files("strict"), settings, progress=lambda _: None)
    both, _ = await telemetry(settings, "strict")
    assert first == again == STRICT
    assert len(set(ids)) == len(ids)
    assert set(both) == set(ids)


async def test_another_judge_shares_no_entry_of_the_cache(settings: Settings) -> None:
    await replay(items(), files("strict"), settings, progress=lambda _: None)
    lenient = await replay(items(), files("lenient"), settings, progress=lambda _: None)
    _, attempts = await telemetry(settings, "lenient")
    assert (lenient.served_by_attempt, lenient.dropped) == ([6, 0, 0], 0)
    assert sum(attempt.cached_verdicts for attempt in attempts) == 0
    assert sum(attempt.model_calls for attempt in attempts) == 6


async def test_the_real_phones_are_served_dropped_and_labelled_as_counted_by_hand() -> None:
    drafts, sources = data_file("quintd_gsmarena.jsonl"), data_file("quintd_sources.jsonl")
    recording = await asyncio.to_thread(drafts.read_bytes)
    rows = read_rows(drafts.name, recording.decode().split("\n"))
    texts = read_side_texts([(sources.name, sources.read_text(encoding="utf-8").split("\n"))])
    order = ["gpt-3.5", "llama2", "mistral", "zephyr"]
    bom = replay_bom("gpt-4-1106-preview", recording, retry_budget=3)
    summary = await replay(items_of(rows, texts, order=order), bom, load({}), progress=lambda _: None)
    assert summary == Summary(
        items=100,
        drafts_judged=296,
        served_by_attempt=[26, 10, 6, 5],
        dropped=53,
        undecided=0,
        exhausted=0,
        human_fail_by_attempt=[3, 1, 1, 0],
        human_undecided_by_attempt=[0, 0, 0, 0],
    )
