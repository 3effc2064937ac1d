from __future__ import annotations

import pytest

from schemas.compositions import Applies
from schemas.drafts import Draft
from schemas.rating import Scale
from schemas.verdict_space import Cause, Choice, Label
from tests.workers.judge.asked import draft, within
from tests.workers.judge.composed.members import ABSTAIN, NOT_APPLICABLE, F, P, Says, said
from workers.judge.composed.and_gate import AndGateJudge, both

pytestmark = pytest.mark.anyio

REVISED = draft(attempt=1, revises={"revision_id": "r", "round_id": "r", "judged_sha256": "0" * 64})


EITHER_WAY = pytest.mark.parametrize(
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


def gate(first: Says, second: Says, applies: Applies = Applies.REVISED) -> AndGateJudge:
    return AndGateJudge("gate", first=("own", first), second=("stranger", second), applies=applies)


@EITHER_WAY
@pytest.mark.parametrize(
    ("judged", "applies"), [(REVISED, Applies.REVISED), (REVISED, Applies.ALWAYS), (draft(), Applies.ALWAYS)]
)
async def test_a_draft_that_the_gate_applies_to_must_pass_both(
    first: Label, second: Label, label: Label, judged: Draft, applies: Applies
) -> None:
    verdict = await gate(Says(first), Says(second), applies).judge(judged, deadline=within(5))
    assert verdict.label is label
    assert [(vote.name, vote.label) for vote in verdict.votes] == [("own", first), ("stranger", second)]


@pytest.mark.parametrize("label", [P, F, ABSTAIN])
async def test_a_first_draft_is_the_first_judges_alone_where_only_revised_ones_must_pass_both(label: Label) -> None:
    second = Says(F)
    verdict = await gate(Says(label), second).judge(draft(), deadline=within(5))
    assert (verdict.label, second.asked, verdict.usage.calls) == (label, 0, 1)


def test_a_fail_speaks_in_the_words_of_who_found_it_and_of_the_first_where_both_did() -> None:
    assert both([said(P, judge="own"), said(F, judge="stranger")])["reason"] == "stranger says so"
    assert both([said(F, judge="own"), said(F, judge="stranger")])["reason"] == "own says so"


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
