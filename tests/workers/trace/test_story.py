"""An item's story from its records, in any order and repeated."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from schemas.codec import decode
from schemas.decisions import Decision
from schemas.topics import TOPICS
from workers.trace.story import Seen, Story, tell

EXAMPLES = Path(__file__).parents[3] / "schemas" / "examples"
NAMES = ["drafts/first_draft", "verdicts/fail", "telemetry/attempt", "revision-requests/request",
         "drafts/revised_draft", "served/after_revision", "telemetry/decided", "served/withdrawal"]  # fmt: skip


def _seen(name: str) -> Seen:
    topic = next(t for t in TOPICS if t.name == name.split("/")[0])
    message = decode(topic, (EXAMPLES / f"{name}.json").read_bytes()).message
    given = getattr(message, "event_id", None) or message.default_event_id("assay.drafts")  # type: ignore[attr-defined]
    return Seen(message, given, f"kafka://assay.{name}/0/0")


def _summary(story: Story) -> object:
    return [
        (r.round_id, sorted(r.attempts), [d.decision for d in r.decisions.values()], len(r.served))
        for r in story.rounds.values()
    ], len(story.withdrawals)


def test_the_examples_tell_one_round_of_two_attempts() -> None:
    story = tell("sku-48213", map(_seen, NAMES))
    (only,) = story.rounds.values()
    assert sorted(only.attempts) == [0, 1]
    first = only.attempts[0]
    assert first.draft is not None
    assert first.record is not None
    assert first.request is not None
    assert list(first.verdicts) == ["bom-3f2a9c0b71d4e856"]
    assert [d.decision for d in only.decisions.values()] == [Decision.SERVED_AFTER_REVISION]
    assert len(story.withdrawals) == 1


@pytest.mark.parametrize("order", list(itertools.islice(itertools.permutations(range(8)), 0, 40_000, 997)))
def test_order_and_repetition_change_nothing(order: tuple[int, ...]) -> None:
    once = tell("sku-48213", map(_seen, NAMES))
    mixed = tell("sku-48213", [_seen(NAMES[n]) for n in (*order, *order)])
    assert _summary(mixed) == _summary(once)


def test_a_round_that_nobody_answered_says_so() -> None:
    (only,) = tell("sku-60018", [_seen("telemetry/abandoned"), _seen("telemetry/abandoned")]).rounds.values()
    assert [one.attempt for one in only.abandoned.values()] == [1]
    assert not only.decisions


@pytest.mark.parametrize("name", NAMES[:-1])
def test_of_an_event_id_the_first_record_counts(name: str) -> None:
    first = _seen(name)
    again = first._replace(message=first.message.model_copy(), uri="kafka://assay.later/0/1")
    told = _told(tell("sku-48213", [first, again]))
    assert [one is first.message for one in told] == [True]


def _told(story: Story) -> list[object]:
    rounds = list(story.rounds.values())
    attempts = [attempt for one in rounds for attempt in one.attempts.values()]
    single = [part for one in attempts for part in (one.draft, one.record, one.request) if part is not None]
    several = [*(one.verdicts for one in attempts), *(one.decisions for one in rounds), *(one.served for one in rounds)]
    return [*single, *(message for by_id in several for message in by_id.values())]


def test_another_item_has_no_story_here() -> None:
    assert not tell("sku-1", map(_seen, NAMES)).rounds
