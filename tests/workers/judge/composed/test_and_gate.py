from __future__ import annotations

import pytest

from schemas.rating import Scale
from schemas.verdict_space import Cause, Choice, Label
from tests.workers.judge.asked import draft, within
from tests.workers.judge.composed.members import ABSTAIN, NOT_APPLICABLE, F, P, Says, said
from workers.judge.composed.and_gate import AndGateJudge, both

pytestmark = pytest.mark.anyio

REVISED = draft(attempt=1, revises={"revision_id": "r", "round_id": "r", "judged_sha256": "0" * 64})


@pytest.mark.parametrize(
    ("first", "second", "label"),
    [
        (P, P, P),
        (P, F, F),
        (F, P, F),
        (F, F, F),
        (P, ABSTAIN, ABSTAIN),
        (ABSTAIN, P, ABSTAIN),
        (F, ABSTAIN, F),
        (ABSTAIN, F, F),
        (NOT_APPLICABLE, P, NOT_APPLICABLE),
        (NOT_APPLICABLE, ABSTAIN, ABSTAIN),
    ],
)
async def test_a_revised_draft_must_pass_both(first: Label, second: Label, label: Label) -> None:
    judges = {"first": ("own", Says(first)), "second": ("stranger", Says(second))}
    verdict = await AndGateJudge("gate", **judges).judge(REVISED, deadline=within(5))
    assert verdict.label is label
    assert [(vote.name, vote.label) for vote in verdict.votes] == [("own", first), ("stranger", second)]


@pytest.mark.parametrize("label", [P, F, ABSTAIN])
async def test_a_first_draft_is_the_first_judges_alone(label: Label) -> None:
    second = Says(F)
    gate = AndGateJudge("gate", first=("own", Says(label)), second=("stranger", second))
    verdict = await gate.judge(draft(), deadline=within(5))
    assert (verdict.label, second.asked, verdict.usage.calls) == (label, 0, 1)


def test_a_fail_speaks_in_the_words_of_who_found_it() -> None:
    assert both([said(P, judge="own"), said(F, judge="stranger")])["reason"] == "stranger says so"


def test_the_worse_measure_is_the_gates() -> None:
    scale = Scale(min=1, max=5, pass_at=4)
    for low, high in ((4, 5), (2, 5), (1, 3)):
        both_ways = [[low, high], [high, low]]
        for scores in both_ways:
            decision = both([said(scale.label_of(score), score=score) for score in scores])
            assert (decision["score"], decision["label"]) == (low, scale.label_of(low))
    assert both([said(P, preference=Choice.A), said(P, preference=Choice.TIE)])["preference"] is Choice.TIE


def test_a_missing_second_word_names_its_cause() -> None:
    decision = both([said(P), said(ABSTAIN, cause=Cause.RATE_LIMITED)])
    assert (decision["label"], decision["cause"]) == (ABSTAIN, Cause.RATE_LIMITED)
