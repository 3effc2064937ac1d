from __future__ import annotations

import pytest

from schemas.compositions import ClearCases
from schemas.rating import Scale
from schemas.verdict_space import Label
from schemas.verdicts import Served
from tests.workers.judge.asked import draft, within
from tests.workers.judge.composed.members import ABSTAIN, NOT_APPLICABLE, F, P, Says
from workers.judge.composed.cascade import CascadeJudge, Settles

pytestmark = pytest.mark.anyio

BOTH = frozenset({P, F})
SCALE = Scale(min=1, max=5, pass_at=4)


@pytest.mark.parametrize(
    ("first", "settles", "asked"),
    [
        (P, BOTH, 0),
        (F, BOTH, 0),
        (P, {F}, 1),
        (F, {F}, 0),
        (F, {P}, 1),
        (ABSTAIN, BOTH, 1),
        (NOT_APPLICABLE, BOTH, 1),
    ],
)
async def test_what_the_first_may_not_settle_the_second_decides(first: Label, settles: set[Label], asked: int) -> None:
    second = Says(F, judge="dear")
    cascade = CascadeJudge(
        "c", first=("cheap", Says(first, judge="cheap")), second=("dear", second), settles=Settles(settles)
    )
    verdict = await cascade.judge(draft(), deadline=within(5))
    assert second.asked == asked
    assert verdict.label is (F if asked else first)
    assert [vote.name for vote in verdict.votes] == ["cheap", "dear"][: 1 + asked]
    assert (verdict.judge, verdict.usage.calls, verdict.usage.latency_ms) == ("c", 1 + asked, 100.0 * (1 + asked))


@pytest.mark.parametrize(("score", "asked"), [(1, 0), (2, 1), (3, 1), (4, 1), (5, 0)])
async def test_scores_between_the_clear_cases_go_on(score: int, asked: int) -> None:
    second = Says(P, score=4)
    cascade = CascadeJudge(
        "c",
        first=("cheap", Says(SCALE.label_of(score), score=score)),
        second=("dear", second),
        settles=Settles(BOTH, clear=ClearCases(fail_up_to=1, pass_from=5)),
    )
    verdict = await cascade.judge(draft(), deadline=within(5))
    assert (second.asked, verdict.score) == (asked, 4 if asked else score)


@pytest.mark.parametrize(("probability", "asked"), [(0.99, 0), (0.9, 0), (0.89, 1), (None, 1)])
async def test_a_decision_of_which_the_first_is_not_sure_goes_on(probability: float | None, asked: int) -> None:
    second = Says(F)
    cascade = CascadeJudge(
        "c",
        first=("cheap", Says(P, served=Served(label_probability=probability))),
        second=("dear", second),
        settles=Settles(BOTH, min_probability=0.9),
    )
    assert (await cascade.judge(draft(), deadline=within(5))).label is (F if asked else P)
    assert second.asked == asked


async def test_two_abstaining_judges_abstain() -> None:
    cascade = CascadeJudge("c", first=("cheap", Says(ABSTAIN)), second=("dear", Says(ABSTAIN)), settles=Settles(BOTH))
    assert (await cascade.judge(draft(), deadline=within(5))).label is ABSTAIN
