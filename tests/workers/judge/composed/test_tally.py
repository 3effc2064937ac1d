"""A panel's truth table, and that the order in which its members are named changes nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.compositions import OnDisagreement, VotingRule
from schemas.rating import Scale
from schemas.verdict_space import Cause, Choice, Flag, Label
from schemas.verdicts import CriterionVerdict, Usage
from tests.workers.judge.composed.members import ABSTAIN, NOT_APPLICABLE, PAID, F, P, said
from workers.judge.composed.tally import Rule, tally

SCALE = Scale(min=1, max=5, pass_at=4)


def rule_for(
    names: list[str],
    rule: VotingRule = VotingRule.MAJORITY,
    *,
    on_disagreement: OnDisagreement = OnDisagreement.ABSTAIN,
    weights: list[float] | None = None,
    threshold: float | None = None,
) -> Rule:
    return Rule(rule, on_disagreement, dict(zip(names, weights or [1.0] * len(names), strict=True)), threshold)


def vote(labels: list[Label], rule: VotingRule = VotingRule.MAJORITY, **options: object) -> CriterionVerdict:
    names = [f"m{number}" for number in range(len(labels))]
    verdicts = {name: said(label, judge=name) for name, label in zip(names, labels, strict=True)}
    return tally("panel", verdicts, rule_for(names, rule, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("labels", "rule", "label", "cause"),
    [
        ([P, P, P], VotingRule.MAJORITY, P, None),
        ([P, P, F], VotingRule.MAJORITY, P, None),
        ([P, F, F], VotingRule.MAJORITY, F, None),
        ([P, F], VotingRule.MAJORITY, ABSTAIN, Cause.PANEL_DISAGREEMENT),
        ([P, P, F, F], VotingRule.MAJORITY, ABSTAIN, Cause.PANEL_DISAGREEMENT),
        ([P, P, ABSTAIN], VotingRule.MAJORITY, P, None),
        # 1 of 3 is no majority of the roster, and it contradicts nobody: the cause is that two are missing.
        ([P, ABSTAIN, ABSTAIN], VotingRule.MAJORITY, ABSTAIN, Cause.TIMEOUT),
        ([P, F, ABSTAIN], VotingRule.MAJORITY, ABSTAIN, Cause.PANEL_DISAGREEMENT),
        ([P, P], VotingRule.UNANIMITY, P, None),
        ([F, F, F], VotingRule.UNANIMITY, F, None),
        ([P, P, F], VotingRule.UNANIMITY, ABSTAIN, Cause.PANEL_DISAGREEMENT),
        ([P, P, ABSTAIN], VotingRule.UNANIMITY, ABSTAIN, Cause.TIMEOUT),
        ([ABSTAIN, ABSTAIN], VotingRule.MAJORITY, ABSTAIN, Cause.TIMEOUT),
        ([NOT_APPLICABLE, NOT_APPLICABLE], VotingRule.MAJORITY, NOT_APPLICABLE, Cause.TIMEOUT),
        ([NOT_APPLICABLE, ABSTAIN], VotingRule.MAJORITY, ABSTAIN, Cause.TIMEOUT),
    ],
)
def test_the_truth_table(labels: list[Label], rule: VotingRule, label: Label, cause: Cause | None) -> None:
    verdict = vote(labels, rule)
    assert (verdict.label, verdict.cause) == (label, cause)


@pytest.mark.parametrize(
    ("weights", "threshold", "label"),
    [
        ([3.0, 1.0, 1.0], 0.6, P),  # 3 of 5 = 0.6
        ([3.0, 1.0, 1.0], 0.61, ABSTAIN),
        ([0.1, 0.1, 0.1], 0.6, F),  # 0.2 of 0.3 says fail
        ([0.3, 0.1, 0.1], 0.6, P),  # 0.3 / 0.5 is not exactly 0.6 in binary, and reaches it all the same
    ],
)
def test_weights_count_as_shares_of_the_whole_roster(weights: list[float], threshold: float, label: Label) -> None:
    assert vote([P, F, F], VotingRule.WEIGHTED, weights=weights, threshold=threshold).label is label


def test_a_declared_rule_may_fail_a_disagreement_but_never_a_want_of_votes() -> None:
    failed = vote([P, F, P, F], on_disagreement=OnDisagreement.FAIL)
    assert (failed.label, failed.reason, failed.guideline_clause) == (F, "m1 says so", "G-1")
    assert vote([P, ABSTAIN, ABSTAIN], on_disagreement=OnDisagreement.FAIL).label is ABSTAIN


def test_a_panel_keeps_every_vote_and_adds_up_what_it_took() -> None:
    verdict = vote([P, F, F])
    assert [(one.name, one.label, one.usage) for one in verdict.votes] == [
        ("m0", P, PAID),
        ("m1", F, PAID),
        ("m2", F, PAID),
    ]
    assert (verdict.judge, verdict.reason, verdict.evidence_spans) == ("panel", "m1 says so", ("6.7 inch",))
    assert (verdict.usage.calls, verdict.usage.input_tokens, verdict.usage.cost_usd) == (3, 300, pytest.approx(0.03))
    assert verdict.usage.latency_ms == 100.0
    assert verdict.detail == "2 of 3 say fail"


def test_one_unknown_cost_makes_the_sum_unknown_and_the_flags_of_all_are_kept() -> None:
    verdicts = {"a": said(P, usage=Usage(calls=1), flags=(Flag.RE_ASKED,)), "b": said(P, cached=True)}
    verdict = tally("panel", verdicts, rule_for(["a", "b"]))
    assert (verdict.usage.cost_usd, verdict.usage.input_tokens, verdict.usage.calls) == (None, None, 2)
    assert (verdict.flags, verdict.cached) == ((Flag.RE_ASKED,), False)
    assert tally("panel", {"a": said(P, cached=True), "b": said(F, cached=True)}, rule_for(["a", "b"])).cached


def test_the_most_frequent_cause_is_the_panels() -> None:
    causes = [Cause.UNPARSEABLE, Cause.TIMEOUT, Cause.UNPARSEABLE]
    verdicts = {str(n): said(ABSTAIN, cause=cause) for n, cause in enumerate(causes)}
    assert tally("panel", verdicts, rule_for(list("012"))).cause is Cause.UNPARSEABLE


def test_two_winning_preferences_that_differ_are_a_tie() -> None:
    verdicts = {
        "a": said(P, preference=Choice.A),
        "b": said(P, preference=Choice.TIE),
        "c": said(F, preference=Choice.B),
    }
    assert tally("panel", verdicts, rule_for(list("abc"))).preference is Choice.TIE


def scored(score: int | None, judge: str) -> CriterionVerdict:
    return said(ABSTAIN, judge=judge) if score is None else said(SCALE.label_of(score), judge=judge, score=score)


SCORES = st.lists(st.none() | st.integers(1, 5), min_size=2, max_size=7)
WEIGHTS = st.lists(st.sampled_from([0.1, 0.2, 1.0, 3.0]), min_size=7, max_size=7)
RULES = st.sampled_from([(VotingRule.MAJORITY, None), (VotingRule.UNANIMITY, None), (VotingRule.WEIGHTED, 0.6)])


@given(SCORES, WEIGHTS, RULES, st.sampled_from(OnDisagreement), st.randoms(use_true_random=False))
@settings(derandomize=True, max_examples=300, deadline=None)
def test_a_permutation_of_the_roster_changes_nothing(scores, weights, chosen, on_disagreement, rng) -> None:  # type: ignore[no-untyped-def]
    names = [f"m{number}" for number in range(len(scores))]
    rule = rule_for(
        names, chosen[0], weights=weights[: len(names)] if chosen[1] else None, threshold=chosen[1],
        on_disagreement=on_disagreement,
    )  # fmt: skip
    verdicts = {name: scored(score, name) for name, score in zip(names, scores, strict=True)}
    shuffled = list(verdicts.items())
    rng.shuffle(shuffled)
    assert tally("panel", dict(shuffled), rule) == tally("panel", verdicts, rule)


@given(SCORES, WEIGHTS, RULES)
@settings(derandomize=True, max_examples=300, deadline=None)
def test_a_panels_score_lies_on_the_side_of_its_label(scores, weights, chosen) -> None:  # type: ignore[no-untyped-def]
    names = [f"m{number}" for number in range(len(scores))]
    rule = rule_for(names, chosen[0], weights=weights[: len(names)] if chosen[1] else None, threshold=chosen[1])
    verdict = tally("panel", {n: scored(score, n) for n, score in zip(names, scores, strict=True)}, rule)
    if verdict.label.decided:
        assert verdict.score is not None
        assert SCALE.label_of(verdict.score) is verdict.label


@given(st.lists(st.integers(1, 5), min_size=3, max_size=7), st.integers(0, 6), RULES)
@settings(derandomize=True, max_examples=300, deadline=None)
def test_a_higher_score_of_one_member_never_lowers_the_panel(scores, which, chosen) -> None:  # type: ignore[no-untyped-def]
    which %= len(scores)
    raised = [min(5, score + 1) if number == which else score for number, score in enumerate(scores)]
    names = [f"m{number}" for number in range(len(scores))]
    rule = rule_for(names, chosen[0], threshold=chosen[1])
    before, after = (
        tally("panel", {n: scored(score, n) for n, score in zip(names, given_, strict=True)}, rule)
        for given_ in (scores, raised)
    )
    assert not (before.label is P and after.label is not P)
    assert not (before.label is not F and after.label is F)
    if before.score is not None and after.score is not None:
        assert after.score >= before.score
