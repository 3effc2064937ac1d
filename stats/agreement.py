"""Agreement of many raters, of two judges, and of one judge with itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from stats.checks import StatsInputError, count, count_table, open_labels, share
from stats.distributions import binomial_at_least
from stats.unavailable import Number, Unavailable


@dataclass(frozen=True, slots=True)
class Fleiss:
    """kappa beyond chance for a fixed number of ratings a unit, with raw and chance agreement beside it."""

    kappa: Number
    po: float
    pe: float
    n_units: int


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> Fleiss | Unavailable:
    """counts[i][k]: how many raters put unit i in class k; every unit has the same number of ratings.

    Unavailable without units or with one rating a unit; kappa alone is unavailable when only one class was used.
    Source: Fleiss (1971).
    """
    if len(counts) == 0:
        return Unavailable("no units")
    table = count_table("counts", counts)
    per_unit = table.sum(axis=1)
    if (per_unit != per_unit[0]).any():
        raise StatsInputError("counts", per_unit.tolist(), "must have the same number of ratings in every unit")
    units, ratings = len(table), int(per_unit[0])
    if ratings < 2:
        return Unavailable("fewer than two ratings per unit")
    total = units * ratings
    agreed = int((table * (table - 1)).sum())
    chance = sum(int(c) ** 2 for c in table.sum(axis=0))
    po, pe = agreed / (total * (ratings - 1)), chance / total**2
    if chance == total**2:
        return Fleiss(Unavailable("p_e = 1: one class only"), po, pe, units)
    return Fleiss((po - pe) / (1 - pe), po, pe, units)


def independence_agreement(
    sens1: float, spec1: float, prevalence: float, sens2: float | None = None, spec2: float | None = None
) -> float:
    """How often two judges would agree if their errors were independent given the truth.

    sens, spec in the clinical sense, prevalence of the positive class; the second judge defaults to the first.
    Source: S1 "Calibration".

    >>> round(independence_agreement(0.8, 0.9, 0.75), 3)
    0.715
    """
    s1, t1, prior = share("sens1", sens1), share("spec1", spec1), share("prevalence", prevalence)
    s2 = s1 if sens2 is None else share("sens2", sens2)
    t2 = t1 if spec2 is None else share("spec2", spec2)
    return prior * (s1 * s2 + (1 - s1) * (1 - s2)) + (1 - prior) * (t1 * t2 + (1 - t1) * (1 - t2))


@dataclass(frozen=True, slots=True)
class IndependenceGap:
    """gap: observed minus predicted agreement; p_value: chance of at least the observed under independence."""

    observed: float
    gap: float
    p_value: float


def independence_gap(agreements: int, n: int, predicted: float) -> IndependenceGap | Unavailable:
    """Is the observed agreement of two judges more than independence predicts? One-sided exact binomial test.

    >>> round(independence_gap(95, 100, 0.715).gap, 3)
    0.235
    """
    n = count("n", n)
    agreements = count("agreements", agreements)
    if agreements > n:
        raise StatsInputError("agreements", agreements, f"must not exceed n, {n}")
    predicted = share("predicted", predicted)
    if n == 0:
        return Unavailable("no item was judged by both")
    observed = agreements / n
    return IndependenceGap(observed, observed - predicted, binomial_at_least(agreements, n, predicted))


@dataclass(frozen=True, slots=True)
class RetestAgreement:
    """pairwise: agreeing ordered pairs over all ordered pairs; all_equal: inputs that always got one verdict."""

    pairwise: float
    all_equal: float
    n: int


def retest_agreement(runs: Sequence[Sequence[Hashable]]) -> RetestAgreement | Unavailable:
    """How often repeated judgments of the same input agree. runs[i]: the verdicts of one input.

    Inputs judged once say nothing and are left out; unavailable when none was judged twice. Source: S2 7.5.
    """
    repeated = [v for v in (open_labels("runs", run) for run in runs) if len(v) >= 2]
    if not repeated:
        return Unavailable("no input was judged twice")
    tallies = [Counter(verdicts) for verdicts in repeated]
    agreeing = sum(k * (k - 1) for tally in tallies for k in tally.values())
    pairs = sum(len(verdicts) * (len(verdicts) - 1) for verdicts in repeated)
    return RetestAgreement(agreeing / pairs, sum(len(t) == 1 for t in tallies) / len(tallies), len(repeated))
