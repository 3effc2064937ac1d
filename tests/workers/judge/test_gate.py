"""The gate as a truth table (S2 4.1, S1 "fail-closed", decided points 6-9)."""

from __future__ import annotations

import itertools

import pytest

from schemas.bom import Criterion, NotApplicable
from schemas.verdict_space import Cause, Label
from schemas.verdicts import AttemptOutcome, CriterionVerdict
from workers.judge.gate import decide, gated_labels, is_enforced

NON_DECISIONS = [label for label in Label if not label.decided]


def said(criterion: str, label: Label) -> CriterionVerdict:
    cause = None if label.decided else Cause.TIMEOUT
    return CriterionVerdict(criterion_id=criterion, label=label, cause=cause, judge="test")


@pytest.mark.parametrize("attempt", range(5))
@pytest.mark.parametrize("labels", [frozenset(s) for n in range(7) for s in itertools.combinations(Label, n)])
def test_the_whole_table(labels: frozenset[Label], attempt: int) -> None:
    outcome = decide(labels, attempt, retry_budget=3)
    if Label.FAIL in labels:
        assert outcome is (AttemptOutcome.REVISE if attempt < 3 else AttemptOutcome.DROP)
    elif labels == {Label.PASS}:
        assert outcome is AttemptOutcome.SERVE
    else:
        assert outcome is AttemptOutcome.UNDECIDED


@pytest.mark.parametrize("undecided", NON_DECISIONS)
def test_a_non_decision_is_never_served(undecided: Label) -> None:
    assert decide({Label.PASS, undecided}, 0, retry_budget=3) is AttemptOutcome.UNDECIDED


def test_nothing_decided_is_never_served() -> None:
    assert decide(set(), 0, retry_budget=3) is AttemptOutcome.UNDECIDED


def test_without_a_retry_budget_a_fail_is_dropped_at_once() -> None:
    assert decide({Label.FAIL}, 0, retry_budget=0) is AttemptOutcome.DROP


def _criteria(policy: NotApplicable) -> list[Criterion]:
    return [Criterion(id="a", judge="m"), Criterion(id="b", judge="m", not_applicable=policy)]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (NotApplicable.BLOCKS, {Label.PASS, Label.NOT_APPLICABLE}),
        (NotApplicable.EXCLUDED, {Label.PASS}),
    ],
)
def test_the_charter_says_whether_not_applicable_blocks(policy: NotApplicable, expected: set[Label]) -> None:
    verdicts = [said("a", Label.PASS), said("b", Label.NOT_APPLICABLE)]
    assert gated_labels(verdicts, _criteria(policy), enforced=frozenset("ab")) == expected


def test_all_excluded_leaves_nothing_decided() -> None:
    criteria = [Criterion(id="a", judge="m", not_applicable=NotApplicable.EXCLUDED)]
    labels = gated_labels([said("a", Label.NOT_APPLICABLE)], criteria, enforced=frozenset("a"))
    assert decide(labels, 0, retry_budget=3) is AttemptOutcome.UNDECIDED


def test_a_criterion_that_is_not_enforced_does_not_block() -> None:
    verdicts = [said("a", Label.PASS), said("b", Label.FAIL)]
    assert gated_labels(verdicts, _criteria(NotApplicable.BLOCKS), enforced=frozenset("a")) == {Label.PASS}


def test_a_missing_verdict_is_not_implemented_and_never_missing() -> None:
    labels = gated_labels([said("a", Label.PASS)], _criteria(NotApplicable.BLOCKS), enforced=frozenset("ab"))
    assert labels == {Label.PASS, Label.NOT_IMPLEMENTED}


def test_the_staged_share_is_drawn_by_hash_and_stable() -> None:
    drawn = [is_enforced(f"sku-{n}", "bom-1", share=0.3) for n in range(4000)]
    assert drawn == [is_enforced(f"sku-{n}", "bom-1", share=0.3) for n in range(4000)]
    assert 0.27 < sum(drawn) / 4000 < 0.33  # four standard errors of 0.3 at n = 4000 are 0.029
    assert not any(is_enforced(f"sku-{n}", "bom-1", share=0.0) for n in range(100))
    assert all(is_enforced(f"sku-{n}", "bom-1", share=1.0) for n in range(100))


def test_a_larger_share_keeps_whom_the_smaller_one_enforced() -> None:
    items = [f"sku-{n}" for n in range(500)]
    small = {i for i in items if is_enforced(i, "bom-1", share=0.2)}
    assert small <= {i for i in items if is_enforced(i, "bom-1", share=0.5)}
