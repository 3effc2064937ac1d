"""From drawn rounds to drafts: what judges said of the very draft, and both drafts of a pair."""

from __future__ import annotations

from schemas.decisions import Decision, ItemDecision
from schemas.labels import TaskKind
from schemas.telemetry import AttemptRecord
from schemas.verdict_space import Cause, Label
from schemas.verdicts import CriterionVerdict, Served
from tests.workers.hitl.specimens import WEEK, decision
from tests.workers.stats_consumer.said import attempt
from workers.hitl.drawing import Drawn
from workers.hitl.seeking import NOTHING_SAID, Attempts

REVISED = Decision.SERVED_AFTER_REVISION


def drafts_of(decided: ItemDecision, n: int, *, bom: str = "") -> list[AttemptRecord]:
    """Attempt records of the first ``n`` drafts of a round; the last one is the decided draft."""
    records = []
    for number in range(n):
        record = attempt(decided.item_id, number, at=decided.decided_at, bom=bom or decided.bom_version)
        update: dict[str, object] = {"round_id": decided.round_id, "draft_uri": f"kafka://assay.drafts/0/{number}"}
        if number == decided.attempt:
            update["judged_sha256"] = decided.judged_sha256
        records.append(record.model_copy(update=update))
    return records


def pair(decided: ItemDecision) -> Drawn:
    return Drawn(decided, TaskKind.PAIR, 0.25)


def test_a_sample_remembers_what_judges_said_of_the_very_draft():
    decided = decision(1, Decision.SERVED_FIRST_PASS)
    served = Served(label_probability=0.93)
    verdicts = (
        CriterionVerdict(criterion_id="c1", label=Label.PASS, judge="m", served=served),
        CriterionVerdict(criterion_id="c2", label=Label.FAIL, judge="m", guideline_clause="G-2.1"),
        CriterionVerdict(criterion_id="c3", label=Label.ABSTAIN, cause=Cause.TIMEOUT, judge="m", served=served),
    )
    record = attempt(decided.item_id, at=decided.decided_at, bom=decided.bom_version, audit={"c1": "fail"})
    judged = {"round_id": decided.round_id, "judged_sha256": decided.judged_sha256, "verdicts": verdicts}
    drawn = [Drawn(decided, TaskKind.SAMPLE, 0.5)]
    attempts = Attempts(drawn)
    assert attempts.sought(drawn)[0][0].said == NOTHING_SAID
    attempts.take(record.model_copy(update=judged))
    assert attempts.sought(drawn)[0][0].said == (
        {"c1": "pass", "c2": "fail", "c3": "abstain"}, {"c2": "G-2.1"}, {"c1": 0.93}, {"c1": "fail"},
    )  # fmt: skip


def test_a_pair_is_the_first_draft_and_its_revision_of_whatever_week_they_were_judged_in():
    decided = decision(1, Decision.DROPPED, attempt=3)
    attempts = Attempts([pair(decided)])
    for record in drafts_of(decided, 4):
        attempts.take(record.model_copy(update={"judged_at": WEEK.start.replace(day=1)}))
    found, gone = attempts.sought([pair(decided)])
    assert not gone
    assert [(one.attempt, one.draft_uri) for one in found] == [
        (0, "kafka://assay.drafts/0/0"),
        (1, "kafka://assay.drafts/0/1"),
    ]
    assert len({one.task_id(WEEK) for one in found}) == 2
    assert {one.drawn.inclusion for one in found} == {0.25}


def test_a_revision_that_the_sample_asks_for_is_not_asked_for_twice():
    decided = decision(1, REVISED, attempt=1)
    drawn = [Drawn(decided, TaskKind.SAMPLE, 0.5), Drawn(decided, TaskKind.AUDIT, 0.1), pair(decided)]
    attempts = Attempts(drawn)
    for record in drafts_of(decided, 2):
        attempts.take(record)
    found, _ = attempts.sought(drawn)
    assert [(one.drawn.kind, one.attempt) for one in found] == [
        (TaskKind.SAMPLE, 1), (TaskKind.AUDIT, 1), (TaskKind.PAIR, 0),
    ]  # fmt: skip


def test_half_a_pair_is_not_asked_for_and_said():
    decided = decision(1, REVISED, attempt=1)
    attempts = Attempts([pair(decided)])
    attempts.take(drafts_of(decided, 2)[1])
    found, gone = attempts.sought([pair(decided)])
    assert (found, len(gone)) == ([], 1)
    assert "attempt 0 of round" in str(gone[0])


def test_records_of_other_rounds_and_second_words_on_a_draft_change_nothing():
    decided = decision(1, REVISED, attempt=1)
    attempts = Attempts([pair(decided)])
    for record in [*drafts_of(decided, 2), *drafts_of(decided, 2, bom="bom-later"), *drafts_of(decision(2), 1)]:
        attempts.take(record)
    assert {one.bom_version for one in attempts.sought([pair(decided)])[0]} == {decided.bom_version}
