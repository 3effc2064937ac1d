"""What the topics bear out, and for each claim the broken specimens that it must catch."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from schemas.decisions import Decision, ItemDecision, RoundAbandoned, ServedOutput, ServedStatus
from schemas.ids import sha256_text
from schemas.message import Message
from schemas.telemetry import AttemptRecord
from schemas.verdict_space import Flag
from schemas.verdicts import AttemptOutcome
from tests.workers.proof.world import NOW, TOPIC, World, letter, short_day, withdrawal
from workers.proof.claims import IN_PROGRESS

OTHER_HASH = sha256_text("something else")


def of(item: str, attempt: int = 0) -> Callable[[Message], bool]:
    return lambda m: (m.item_id, m.attempt) == (item, attempt)  # type: ignore[attr-defined]


def test_what_the_judge_says_bears_out_every_claim() -> None:
    found = short_day().claims()
    assert {name: claim.broken for name, claim in found.items() if claim.broken} == {}
    checked = {name: claim.checked for name, claim in found.items()}
    # 10 drafts, one of them unreadable; 9 attempts; 4 rounds with an end; shown: two passes and the fallback.
    assert checked == {
        "one fate": 10, "same text": 9, "same word": 0, "one decision": 4, "passed is shown": 3,
        "shown was passed": 3, "one BOM": 1,
    }  # fmt: skip
    assert found["one decision"].not_checked == {"open: its revision request has no answer yet": 1}


def test_a_day_that_comes_twice_is_the_same_day() -> None:
    world = short_day()
    world.said += world.said
    assert world.broken() == {}
    assert world.claims()["same word"].checked == 9


def lost(world: World) -> None:
    world.drop(AttemptRecord, of("first"))
    world.drop(ItemDecision, of("first"))
    world.drop(ServedOutput, of("first"))


def both(world: World) -> None:
    world.letters.append(letter(0))


def other_text(world: World) -> None:
    world.change(AttemptRecord, of("open"), draft_sha256=OTHER_HASH)


def never_published(world: World) -> None:
    world.change(AttemptRecord, of("open"), draft_uri=f"kafka://{TOPIC}/7/0")
    del world.drafts[0, 9]


def of_another_topic(world: World) -> None:
    world.change(AttemptRecord, of("open"), draft_uri="kafka://other.drafts/0/9")
    del world.drafts[0, 9]


def taken_from_the_topic(world: World) -> None:
    del world.drafts[0, 0]


def unreadable_and_judged(world: World) -> None:
    world.drafts[0, 9] = None


def told_otherwise(world: World) -> None:
    record = next(m for m in world.said if isinstance(m, AttemptRecord) and m.item_id == "open")
    failed = record.verdicts[0].model_copy(update={"guideline_clause": "G-9.9"})
    world.said.append(record.model_copy(update={"verdicts": (failed, *record.verdicts[1:])}))


def decided_twice(world: World) -> None:
    first = next(m for m in world.said if isinstance(m, ItemDecision) and m.item_id == "first")
    other = "00000000-0000-5000-8000-000000000000"
    world.said.append(first.model_copy(update={"event_id": other, "decision": Decision.DROPPED}))


def not_decided(world: World) -> None:
    world.drop(ItemDecision, of("dropped", 3))


def decided_otherwise(world: World) -> None:
    world.change(ItemDecision, of("undecided"), decision=Decision.SERVED_FIRST_PASS)


def decided_from_nothing(world: World) -> None:
    world.change(ItemDecision, of("undecided"), judged_sha256=OTHER_HASH)


def shown_no_more(world: World) -> None:
    world.drop(ServedOutput, of("first"))


def shown_after_a_drop(world: World) -> None:
    world.change(ServedOutput, of("dropped", 3), status=ServedStatus.SERVED, decision=Decision.SERVED_AFTER_REVISION)


def shown_under_another_bom(world: World) -> None:
    world.change(ServedOutput, of("first"), bom_version="bom-other")


def shown_with_other_words(world: World) -> None:
    world.change(ServedOutput, of("first"), text="PASS first 0, and more")


def shown_from_nothing(world: World) -> None:
    text = "never judged"
    world.change(
        ServedOutput, of("first"), text=text, text_sha256=sha256_text(text), judged_sha256=OTHER_HASH,
        round_id="invented",
    )  # fmt: skip


def a_bom_that_is_two(world: World) -> None:
    record = next(m for m in world.said if isinstance(m, AttemptRecord))
    world.change(AttemptRecord, of("open"), bom=record.bom.model_copy(update={"judge_models": {"primary": "newer"}}))


@pytest.mark.parametrize(
    ("spoil", "claim", "words"),
    [
        (lost, "one fate", "draft 0/0 is lost"),
        (both, "one fate", "draft 0/0 was judged, and set aside"),
        (other_text, "same text", "attempt 0 of item 'open' was judged on another text than draft 0/9 holds"),
        (never_published, "same text", "names a draft that cannot be"),
        (of_another_topic, "same text", "names a draft that cannot be"),
        (taken_from_the_topic, "same text", "draft 0/0 is not on the topic"),
        (unreadable_and_judged, "same text", "draft 0/9 cannot be read"),
        (told_otherwise, "same word", "attempt 0 of item 'open' was told something else"),
        (decided_twice, "one decision", "was decided 2 times: served_first_pass, dropped"),
        (not_decided, "one decision", "of item 'dropped' was judged to its end, and nothing was decided"),
        (decided_otherwise, "one decision", "is served_first_pass, and its attempt says undecided"),
        (decided_from_nothing, "one decision", "no attempt on record leads to that"),
        (shown_no_more, "passed is shown", "item 'first' was served_first_pass, and neither a text nor a withdrawal"),
        (shown_after_a_drop, "shown was passed", "item 'dropped' is shown (served), and its attempt says drop"),
        (shown_under_another_bom, "shown was passed", "is shown (served), and its attempt says serve under"),
        (shown_with_other_words, "shown was passed", "another hash than its record names"),
        (shown_from_nothing, "shown was passed", "no attempt on record led to that"),
        (a_bom_that_is_two, "one BOM", "stands for two different sets of parts"),
    ],
)
def test_a_contradiction_is_found_by_its_claim_alone(spoil: Callable[[World], None], claim: str, words: str) -> None:
    world = short_day()
    spoil(world)
    ((name, (line,)),) = world.broken().items()
    assert name == claim
    assert words in line


def test_what_is_not_done_is_in_progress_and_not_lost() -> None:
    world = short_day()
    world.done = 0
    lost(world)
    world.drop(ItemDecision, of("undecided"))
    found = world.claims()
    assert not any(claim.broken for claim in found.values())
    assert found["one fate"].not_checked == {IN_PROGRESS: 1}
    assert found["one decision"].not_checked[IN_PROGRESS] == 1


def test_what_is_written_between_two_topics_is_in_progress() -> None:
    """A worker that dies in the middle of writing: the text is shown already, its attempt is not on record yet."""
    world = short_day()
    world.done = 0
    world.drop(AttemptRecord, of("first"))
    found = world.claims()
    assert not any(claim.broken for claim in found.values())
    assert found["shown was passed"].not_checked == found["one fate"].not_checked == {IN_PROGRESS: 1}


def test_a_text_that_is_not_written_yet_is_in_progress() -> None:
    world = short_day()
    world.done = 0
    shown_no_more(world)
    assert world.broken() == {}
    assert world.claims()["passed is shown"].not_checked == {IN_PROGRESS: 1}


def test_a_repetition_that_was_judged_without_the_cache_may_differ() -> None:
    world = short_day()
    told_otherwise(world)
    (again,) = world.said[-1:]
    assert isinstance(again, AttemptRecord)
    flagged = again.verdicts[0].model_copy(update={"flags": (Flag.CACHE_DOWN,)})
    world.said[-1] = again.model_copy(update={"verdicts": (flagged, *again.verdicts[1:])})
    assert world.broken() == {}


def test_what_retention_has_removed_is_not_checked_and_says_so() -> None:
    world = short_day()
    world.first = 3
    assert world.claims()["same text"].not_checked == {"the draft is older than what its topic keeps": 3}
    old = short_day()
    lost(old)
    old.published = NOW - timedelta(days=40)
    assert old.broken() == {}
    assert old.claims()["one fate"].not_checked == {"older than what the dead letters' topic keeps": 1}
    cut = short_day()
    cut.drop(AttemptRecord, of("second", 1))
    cut.drafts[0, 2] = None
    cut.letters.append(letter(2))
    cut.telemetry_cut = True
    assert cut.broken() == {}
    assert cut.claims()["shown was passed"].not_checked == {"older than what telemetry keeps": 1}


def test_an_abandoned_round_needs_no_decision_and_a_withdrawn_item_shows_nothing() -> None:
    world = short_day()
    record = next(m for m in world.said if isinstance(m, AttemptRecord) and m.item_id == "open")
    world.said.append(
        RoundAbandoned(
            event_id=record.event_id, item_id="open", round_id=record.round_id, attempt=0, bom_version="b",
            judged_at=NOW, abandoned_at=NOW,
        )
    )  # fmt: skip
    world.said.append(withdrawal("first"))
    found = world.claims()
    assert world.broken() == {}
    assert (found["one decision"].checked, found["one decision"].not_checked) == (5, {})
    assert found["shown was passed"].not_checked == {"withdrawn by an operator: nothing is shown": 1}


def test_shadow_mode_shows_the_first_draft_whatever_was_said_of_it() -> None:
    world = World()
    world.publish("first", "PASS")
    world.publish("open", "FAIL")
    world.said = [m.model_copy(update={"enforced": False}) for m in world.said if hasattr(m, "enforced")]
    first = next(m for m in world.said if isinstance(m, AttemptRecord) and m.item_id == "open")
    assert first.attempt_outcome is AttemptOutcome.REVISE
    served = next(m for m in world.said if isinstance(m, ServedOutput) and m.item_id == "first")
    text = "FAIL open 0"
    shown = {
        "item_id": "open", "text": text, "text_sha256": sha256_text(text), "decision": None,
        "round_id": first.round_id, "judged_sha256": first.judged_sha256,
    }  # fmt: skip
    world.said.append(served.model_copy(update=shown))
    assert world.broken() == {}
    assert world.claims()["shown was passed"].checked == 2
