"""The demo without Kafka: every item through judge, gate, reflector and generator, until its round ends."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeVar

import pytest

from schemas.bom import Bom
from schemas.decisions import Decision, ItemDecision, ServedOutput, ServedStatus
from schemas.drafts import Draft
from schemas.message import Message
from schemas.revisions import RevisionRequest
from schemas.verdicts import DraftVerdict
from workers.bom import MANIFEST, load_bom, manifest_of, read_files
from workers.bom.example import example_bom
from workers.embedded.generator import revise
from workers.embedded.items import DemoItem, demo_items
from workers.judge.build import Surroundings, build_instrument
from workers.judge.protocols import NoCounters
from workers.judge.worker import JudgeWorker
from workers.reflector.worker import ReflectorWorker
from workers.runtime.origin import Origin

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
M = TypeVar("M", bound=Message)


def example() -> Bom:
    files = {name: raw for name, raw in read_files(example_bom()).items() if name != MANIFEST}
    return load_bom({**files, MANIFEST: manifest_of(files).to_bytes()})


async def round_of(item: DemoItem, judge: JudgeWorker, reflector: ReflectorWorker) -> list[Message]:
    """Everything that is published about one item, in order."""
    draft: Draft | None = item.first_draft(now=NOW)
    published: list[Message] = []
    while draft is not None:
        uri = f"kafka://assay.drafts/0/{draft.attempt}"
        judged = await judge(draft, Origin(draft.default_event_id("assay.drafts"), uri))
        asked = await reflector(only(DraftVerdict, judged)[0], Origin(f"verdict-{draft.attempt}", uri))
        published += [*judged, *asked]
        requests = only(RevisionRequest, asked)
        draft = revise(draft, requests[0], now=NOW) if requests else None
    return published


def only(kind: type[M], messages: Sequence[Message]) -> list[M]:
    return [message for message in messages if isinstance(message, kind)]


async def all_rounds() -> dict[str, list[Message]]:
    bom = example()
    clock = asyncio.get_running_loop().time
    around = Surroundings(clock=clock, rng=random.Random(1), counters=NoCounters(), prices={})
    judge = JudgeWorker(bom, build_instrument(bom, around), now=lambda: NOW)
    reflector = ReflectorWorker(bom, now=lambda: NOW)
    items = demo_items()
    rounds = await asyncio.gather(*(round_of(item, judge, reflector) for item in items))
    return {item.item_id: published for item, published in zip(items, rounds, strict=True)}


@pytest.fixture(scope="module")
def rounds() -> dict[str, list[Message]]:
    return asyncio.run(all_rounds())


@pytest.mark.parametrize("item", demo_items(), ids=lambda item: item.item_id)
def test_an_item_ends_as_it_says_it_does(item: DemoItem, rounds: dict[str, list[Message]]):
    (decision,) = only(ItemDecision, rounds[item.item_id])
    assert (decision.decision, decision.attempt) == (item.expected_decision, item.expected_attempt)


def test_the_fallback_is_shown_for_what_is_dropped_and_nothing_for_what_is_undecided(
    rounds: dict[str, list[Message]],
):
    shown = Counter(
        (only(ItemDecision, published)[0].decision, tuple(s.status for s in only(ServedOutput, published)))
        for published in rounds.values()
    )
    assert set(shown) == {
        (Decision.SERVED_FIRST_PASS, (ServedStatus.SERVED,)),
        (Decision.SERVED_AFTER_REVISION, (ServedStatus.SERVED,)),
        (Decision.DROPPED, (ServedStatus.FALLBACK,)),
        (Decision.UNDECIDED, ()),
    }


def test_no_served_text_speaks_to_a_checking_system(rounds: dict[str, list[Message]]):
    for published in rounds.values():
        for served in only(ServedOutput, published):
            assert not any(mark in served.text for mark in ("<", "{", "[system]", "Ignore all"))
