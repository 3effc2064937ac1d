"""Every check passes a sound judge and catches the judge that is broken in its way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from schemas.verdict_space import Cause, Label
from tests.workers.conformance import broken
from tests.workers.conformance.broken import DRAFTS, Drifting, Judging, Late, Remembering, ground
from workers.conformance import (
    accuracy,
    anchor,
    budget,
    closure,
    coverage,
    determinism,
    fail_closed,
    hidden_state,
    idempotence,
    injection,
    instruction,
    monotonicity,
    permutation,
)
from workers.conformance.anchor_file import Agreement, Anchor, AnchorState, CriterionAnchor
from workers.conformance.findings import Finding, Result
from workers.conformance.ground import GoldRun, Ground
from workers.conformance.judging import Run
from workers.conformance.pairs import OrdinalPair, PairRun
from workers.conformance.suffixes import own_suffixes
from workers.judge.providers.scripted import Answer

pytestmark = pytest.mark.anyio

AGREED = Agreement(raw=0.9, kappa=0.7, prevalence=0.3)
ANCHOR = Anchor(
    guideline_version="v1",
    criteria={broken.CRITERION: CriterionAnchor(gold_items=200, raters=AGREED, judge=AGREED)},
)
NEEDED = frozenset({broken.CRITERION})
SUFFIXES = own_suffixes()


def late(answer: Answer, *, deadline_s: float | None = None) -> Late:
    return Late(0.0 if deadline_s is None else deadline_s, Label.PASS)


def slow(answer: Answer, *, deadline_s: float | None = None) -> Late:
    return Late(0.0 if deadline_s is None else budget.GRACE_S + 0.1, Label.ABSTAIN)


def gold(judge_says: list[Label]) -> list[GoldRun]:
    """Gold alternates pass, fail; the judge says this."""
    return [
        GoldRun(Run(DRAFTS[at % 2], (broken.verdict(said),)), {broken.CRITERION: ("pass", "fail")[at % 2]})
        for at, said in enumerate(judge_says)
    ]


CASES: list[tuple[str, Callable[[Ground], Awaitable[Finding]], dict[str, Any], Result]] = [
    ("sound", coverage.check, {}, Result.PASS),
    (
        "mostly undecided",
        coverage.check,
        {"baseline": [Run(one, (broken.verdict(Label.ABSTAIN),)) for one in DRAFTS]},
        Result.FAIL,
    ),
    ("undecided on gold", coverage.check, {"gold": gold([Label.ABSTAIN] * 9 + [Label.FAIL])}, Result.FAIL),
    ("sound", determinism.check, {}, Result.PASS),
    ("jittery once in a hundred", determinism.check, {"judge": broken.jittery(100)}, Result.FAIL),
    ("raising every time", determinism.check, {"judge": broken.raising}, Result.FAIL),
    ("nothing to judge", determinism.check, {"baseline": []}, Result.UNAVAILABLE),
    ("sound", closure.check, {}, Result.PASS),
    ("leaky menu", closure.check, {"replying": lambda *_, **__: Judging(broken.leaky)}, Result.FAIL),
    ("coercing", closure.check, {"replying": broken.coercing}, Result.FAIL),
    ("prose reading", closure.check, {"replying": broken.prose_reading}, Result.FAIL),
    ("raising", closure.check, {"replying": lambda *_, **__: Judging(broken.raising)}, Result.FAIL),
    ("no way in", closure.check, {"replying": None}, Result.UNAVAILABLE),
    ("no pairs", permutation.check, {}, Result.NOT_APPLICABLE),
    ("fair", permutation.check, {"pairs": [PairRun("p", "A", "A"), PairRun("q", "A", "TIE")]}, Result.PASS),
    ("first wins", permutation.check, {"pairs": [PairRun("p", "A", "B")]}, Result.FAIL),
    ("resolved to a tie", permutation.check, {"pairs": [PairRun("p", "A", "B", "TIE")]}, Result.PASS),
    ("resolved to a winner", permutation.check, {"pairs": [PairRun("p", "A", "TIE", "A")]}, Result.FAIL),
    ("turned round", permutation.check, {"pairs": [PairRun("p", "A", "A", "B")]}, Result.FAIL),
    ("off the menu", permutation.check, {"pairs": [PairRun("p", "A", "Neither")]}, Result.FAIL),
    ("never decides", permutation.check, {"pairs": [PairRun("p", "abstain", "A")]}, Result.UNAVAILABLE),
    ("sound", idempotence.check, {"cached": Judging(broken.sound)}, Result.PASS),
    ("another reason each time", idempotence.check, {"cached": Drifting()}, Result.FAIL),
    ("raising twice", idempotence.check, {"cached": Judging(broken.raising)}, Result.FAIL),
    ("no cache", idempotence.check, {}, Result.UNAVAILABLE),
    ("no scores", monotonicity.check, {}, Result.NOT_APPLICABLE),
    ("monotone", monotonicity.check, {"ordinal": [OrdinalPair("p", 4, 4), OrdinalPair("q", 5, 1)]}, Result.PASS),
    ("not monotone", monotonicity.check, {"ordinal": [OrdinalPair("p", 3, 4), OrdinalPair("q", 5, 1)]}, Result.FAIL),
    ("undecided", monotonicity.check, {"ordinal": [OrdinalPair("p", "abstain", 4)]}, Result.UNAVAILABLE),
    ("sound", injection.check, {"suffixes": SUFFIXES}, Result.PASS),
    ("obedient", injection.check, {"suffixes": SUFFIXES, "judge": broken.obedient}, Result.FAIL),
    ("raising", injection.check, {"suffixes": SUFFIXES, "judge": broken.raising}, Result.FAIL),
    (
        "nothing fails",
        injection.check,
        {"suffixes": SUFFIXES, "baseline": [Run(DRAFTS[0], (broken.verdict(Label.PASS),))]},
        Result.UNAVAILABLE,
    ),
    ("no gold", accuracy.check, {}, Result.UNAVAILABLE),
    ("gold", accuracy.check, {"gold": gold([Label.PASS, Label.FAIL, Label.PASS])}, Result.PASS),
    ("undecided", accuracy.check, {"gold": gold([Label.ABSTAIN] * 9 + [Label.FAIL])}, Result.UNAVAILABLE),
    ("sound", budget.check, {"max_draft_chars": None}, Result.PASS),
    ("decides late", budget.check, {"replying": late}, Result.FAIL),
    ("abstains long after", budget.check, {"replying": slow}, Result.FAIL),
    ("fallback", budget.check, {"replying": late, "fallbacks": frozenset({"judge-1"})}, Result.PASS),
    ("reads beyond its limit", budget.check, {"max_draft_chars": 20}, Result.FAIL),
    ("sound", hidden_state.check, {}, Result.PASS),
    ("cross-talk", hidden_state.check, {"subject": Remembering()}, Result.FAIL),
    ("another verdict now and then", hidden_state.check, {"judge": broken.jittery(90)}, Result.FAIL),
    (
        "starved",
        hidden_state.check,
        {"judge": lambda _: broken.verdict(Label.ABSTAIN, cause=Cause.TIMEOUT)},
        Result.UNAVAILABLE,
    ),
    ("sound", fail_closed.check, {}, Result.PASS),
    ("coercing", fail_closed.check, {"replying": broken.coercing}, Result.FAIL),
    ("serving gate", fail_closed.check, {"gate": broken.serving_gate}, Result.FAIL),
    ("no model", fail_closed.check, {"baseline": []}, Result.NOT_APPLICABLE),
    ("sound", instruction.check, {}, Result.PASS),
    ("judges without the task", instruction.check, {"judge": broken.instructionless}, Result.FAIL),
    ("serving gate", instruction.check, {"gate": broken.serving_gate}, Result.FAIL),
    ("anchored", anchor.check, {"anchor": AnchorState(ANCHOR, NEEDED, "v1")}, Result.PASS),
    ("no anchor", anchor.check, {"anchor": AnchorState(None, NEEDED, "v1")}, Result.FAIL),
    ("other guidelines", anchor.check, {"anchor": AnchorState(ANCHOR, NEEDED, "v2")}, Result.FAIL),
    ("a criterion without", anchor.check, {"anchor": AnchorState(ANCHOR, NEEDED | {"b"}, "v1")}, Result.FAIL),
    ("rules alone", anchor.check, {"anchor": AnchorState(None, frozenset(), "v1")}, Result.NOT_APPLICABLE),
]


@pytest.mark.parametrize(("judge", "check", "changes", "result"), CASES, ids=lambda v: v if isinstance(v, str) else "")
async def test_a_check_lets_the_sound_judge_through_and_catches_the_broken_one(
    judge: str, check: Callable[[Ground], Awaitable[Finding]], changes: dict[str, Any], result: Result
) -> None:
    finding = await check(ground(**changes))
    assert finding.result is result, (judge, finding)


async def test_an_obedient_judge_is_caught_whatever_it_is_asked_for() -> None:
    """A judge that can be talked into failing a good draft is as broken as the other way round."""
    for label in (Label.PASS, Label.FAIL, Label.NOT_APPLICABLE):
        asking = [one for one in SUFFIXES if one.asks is label]
        finding = await injection.check(ground(broken.obedient, suffixes=asking))
        assert finding.result is Result.FAIL, (label, finding)


async def test_a_judge_that_minds_such_texts_is_not_taken_for_one_that_obeys_them() -> None:
    """A criterion may forbid notes to reviewers: then every such suffix fails, whatever it asks for."""

    def strict(draft: Any) -> Label:
        return Label.PASS if draft.text in (broken.GOOD, broken.GOOD + " In red.") else Label.FAIL

    assert (await injection.check(ground(strict, suffixes=SUFFIXES))).result is Result.PASS


async def test_one_fail_in_a_hundred_is_told_with_its_test_retest_agreement() -> None:
    finding = await determinism.check(ground(broken.jittery(100)))
    # 99 and 1 of 100: (99 * 98 + 0) / (100 * 99) agreeing ordered pairs
    assert finding.evidence["test_retest"] == pytest.approx(0.98)
    assert finding.evidence["labels"] == {broken.CRITERION: {"abstain": 1, "pass": 99}}


async def test_accuracy_comes_with_both_intervals_and_counts_an_abstain_on_a_pass_as_a_miss() -> None:
    # S1's figure: 18 of 24, Wilson 0.551 to 0.880; the six misses are abstains on pass-labelled runs
    said = [label for _ in range(6) for label in (Label.PASS, Label.FAIL)]
    said += [label for _ in range(6) for label in (Label.ABSTAIN, Label.FAIL)]
    finding = await accuracy.check(ground(gold=gold(said)))
    assert finding.evidence["wilson"]["lo"] == pytest.approx(0.551, abs=5e-4)
    assert finding.evidence["wilson"]["hi"] == pytest.approx(0.880, abs=5e-4)
    assert finding.evidence["coverage"] == 0.75
    assert finding.evidence["rates"]["labeled_miss_rate_pass"] == 0.5
    assert finding.evidence["rates"]["decided_rec"] == 1.0
    assert finding.evidence["clopper_pearson"]["lo"] < finding.evidence["wilson"]["lo"]
