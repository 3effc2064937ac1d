"""Spec, Rec, RA- and their Score: how well the judge's labels and reasons match the people's (S2 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stats.checks import Floats, StatsInputError, labels, real, same_length
from stats.checks import weights as checked_weights
from stats.unavailable import Number, Unavailable, ratio
from stats.verdicts import FAIL, MENU, PASS

SCORE_WEIGHTS = (3.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Confusion:
    """Items by what people said (first word) and what the judge made of it. Unweighted counts."""

    fail_caught: int
    fail_missed: int
    fail_undecided: int
    pass_refused: int
    pass_kept: int
    pass_undecided: int


@dataclass(frozen=True, slots=True)
class Alignment:
    """Spec: share of human fails that the judge fails. Rec: share of human passes that it passes.

    ra_neg: share of human fails that it fails for the same reason (denominator: all human fails).
    ra_given_agreed_fail: the same over the fails both saw. score: the weighted sum of Spec, Rec and ra_neg.
    A non-decision is in the denominator and never counts as caught or kept (labelled-run form).
    """

    spec: Number
    rec: Number
    ra_neg: Number
    ra_given_agreed_fail: Number
    score: Number
    n_fail: int
    n_pass: int
    confusion: Confusion


def alignment(
    judge: Sequence[str],
    human: Sequence[str | None],
    *,
    reason_agrees: Sequence[bool | None] | None = None,
    weights: Sequence[float] | None = None,
    score_weights: tuple[float, float, float] = SCORE_WEIGHTS,
) -> Alignment:
    """The judge against the human labels (``None``: people did not decide, the item is left out).

    reason_agrees: per item, whether the judge's reason is the people's; read only where both failed the item.
    weights: inverse inclusion probabilities. A class of total weight 0 makes its metrics unavailable.
    Source: S2 3.2.

    >>> a = alignment(["fail", "fail", "pass"], ["fail", "fail", "pass"], reason_agrees=[True, False, None])
    >>> a.spec, a.rec, a.ra_neg, a.score
    (1.0, 1.0, 0.5, 4.5)
    """
    n = same_length(judge=judge, human=human)
    labels("judge", judge, MENU)
    labels("human", human, MENU, optional=True)
    said, truth = np.array(judge, dtype=object), np.array(human, dtype=object)
    w = checked_weights("weights", weights, n)
    fails, passes = truth == FAIL, truth == PASS
    caught, kept = fails & (said == FAIL), passes & (said == PASS)
    spec = ratio(float(w[caught].sum()), float(w[fails].sum()), "no human fail")
    rec = ratio(float(w[kept].sum()), float(w[passes].sum()), "no human pass")
    ra_neg, ra_given = _reasons(reason_agrees, caught, fails, w)
    return Alignment(
        spec,
        rec,
        ra_neg,
        ra_given,
        score(spec, rec, ra_neg, score_weights=score_weights),
        int(fails.sum()),
        int(passes.sum()),
        _confusion(said, fails, passes),
    )


def score(
    spec: Number, rec: Number, ra_neg: Number, *, score_weights: tuple[float, float, float] = SCORE_WEIGHTS
) -> Number:
    """3 Spec + Rec + RA- (weights configurable, a weight of 0 leaves the part out); 0 to 5 with the default weights."""
    total = 0.0
    for i, (weight, part) in enumerate(zip(score_weights, (spec, rec, ra_neg), strict=True)):
        weight = real(f"score_weights[{i}]", weight, at_least=0.0)
        if weight and isinstance(part, Unavailable):
            return Unavailable(f"a component is unavailable: {part.reason}")
        if weight:
            assert not isinstance(part, Unavailable)
            total += weight * part
    return total


def _reasons(
    reason_agrees: Sequence[bool | None] | None, caught: np.ndarray, fails: np.ndarray, w: Floats
) -> tuple[Number, Number]:
    if reason_agrees is None:
        nothing = Unavailable("reasons were not compared")
        return nothing, nothing
    same_length(judge=list(caught), reason_agrees=reason_agrees)
    for value in reason_agrees:
        if value not in (True, False, None):
            raise StatsInputError("reason_agrees", value, "must hold only True, False or None")
    agreed = np.array(reason_agrees, dtype=object)
    if not fails.any():
        return Unavailable("no human fail"), Unavailable("no agreed fail")
    if any(value is None for value in agreed[caught]):
        missing = Unavailable("the reasons of some agreed fails were not compared")
        return missing, missing
    same = float(w[caught & (agreed == True)].sum())  # noqa: E712  (an object array: identity is not elementwise)
    return (
        ratio(same, float(w[fails].sum()), "no human fail"),
        ratio(same, float(w[caught].sum()), "no agreed fail"),
    )


def _confusion(said: np.ndarray, fails: np.ndarray, passes: np.ndarray) -> Confusion:
    def n(mask: np.ndarray) -> int:
        return int(mask.sum())

    failed, passed = said == FAIL, said == PASS
    other = ~(failed | passed)
    return Confusion(
        fail_caught=n(fails & failed),
        fail_missed=n(fails & passed),
        fail_undecided=n(fails & other),
        pass_refused=n(passes & failed),
        pass_kept=n(passes & passed),
        pass_undecided=n(passes & other),
    )
