"""From a designed sample back to production: strata, inclusion probabilities, effective sample size (S2 6.3, 6.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from stats.checks import StatsInputError, choice, count, flags, real, same_length, share, successes
from stats.checks import weights as checked_weights
from stats.distributions import two_sided_z
from stats.unavailable import Number, Unavailable, ratio

NO_WEIGHT = "total weight is 0"


class Stratum(NamedTuple):
    """size: items in production (or any weight); n: labelled ones; x: those with the property (defects, say)."""

    size: float
    n: int
    x: int


@dataclass(frozen=True, slots=True)
class StratifiedEstimate:
    """p = sum W_h x_h / n_h with its standard error; lo, hi: Wilson at the effective sample size n_eff."""

    p: float
    n: int
    se: Number
    n_eff: Number
    lo: Number
    hi: Number


def stratified_estimate(
    strata: Sequence[Stratum], *, conf: float = 0.95, fpc: bool = False
) -> StratifiedEstimate | Unavailable:
    """A production rate from per-stratum samples, weighted by the strata's sizes (W_h = size_h / total).

    fpc: sampled without replacement from exactly ``size`` items. Unavailable for an empty population or a populated
    stratum without labels; se and interval are unavailable with a single label in a stratum, the interval also when
    every stratum is all-pass or all-fail (the error is then 0, which nobody should believe).

    >>> e = stratified_estimate([Stratum(5000, 100, 5), Stratum(2500, 100, 5), Stratum(2500, 100, 70)])
    >>> e.p, round(e.se, 4)
    (0.2125, 0.0168)
    """
    z = two_sided_z(conf)
    checked = [_checked(i, stratum) for i, stratum in enumerate(strata)]
    populated = [s for s in checked if s.size > 0]
    total = math.fsum(s.size for s in populated)
    if total == 0:
        return Unavailable("empty population")
    if any(s.n == 0 for s in populated):
        return Unavailable("a populated stratum has no labels")
    p = math.fsum(s.size / total * s.x / s.n for s in populated)
    n = sum(s.n for s in populated)
    if any(s.n == 1 for s in populated):
        nothing = Unavailable("a stratum has a single label: its spread is unknown")
        return StratifiedEstimate(p, n, nothing, nothing, nothing, nothing)
    se = math.sqrt(math.fsum(_variance(s, total, fpc) for s in populated))
    if se == 0:
        flat = Unavailable("the standard error is 0 (uniform strata or a full count): the interval has no width")
        return StratifiedEstimate(p, n, se, flat, flat, flat)
    n_eff = p * (1 - p) / se**2
    centre, reach = p + z * z / (2 * n_eff), z * math.sqrt(p * (1 - p) / n_eff + z * z / (4 * n_eff**2))
    scale = 1 + z * z / n_eff
    return StratifiedEstimate(p, n, se, n_eff, max((centre - reach) / scale, 0.0), min((centre + reach) / scale, 1.0))


def _checked(i: int, stratum: Stratum) -> Stratum:
    size = real(f"strata[{i}].size", stratum.size, at_least=0.0)
    n = count(f"strata[{i}].n", stratum.n)
    return Stratum(size, n, successes(f"strata[{i}].x", stratum.x, n))


def _variance(s: Stratum, total: float, fpc: bool) -> float:
    if fpc and s.n > s.size:
        raise StatsInputError("strata.n", s.n, f"must not exceed the stratum's size {s.size:g} with fpc")
    rate, weight = s.x / s.n, s.size / total
    left = 1 - s.n / s.size if fpc else 1.0
    return weight**2 * left * rate * (1 - rate) / (s.n - 1)


@dataclass(frozen=True, slots=True)
class HorvitzThompson:
    """total: estimated number with the property; ht_mean = total / population; hajek = total / n_hat."""

    total: float
    n_hat: float
    ht_mean: Number
    hajek: float


def horvitz_thompson(
    y: Sequence[float | None], inclusion: Sequence[float], *, population: int | None = None
) -> HorvitzThompson | Unavailable:
    """Undo oversampling within a stratum: each labelled item stands for 1 / inclusion items; y None is unlabelled.

    Unavailable without a labelled item; ht_mean alone without the population's size.

    >>> horvitz_thompson([1, 0, 1, None], [0.5, 0.25, 0.1, 0.5], population=20).ht_mean
    0.6
    """
    same_length(y=y, inclusion=inclusion)
    labelled = [
        (real(f"y[{i}]", value), 1 / real(f"inclusion[{i}]", share(f"inclusion[{i}]", chance), above=0.0))
        for i, (value, chance) in enumerate(zip(y, inclusion, strict=True))
        if value is not None
    ]
    if not labelled:
        return Unavailable("no labelled item")
    total = math.fsum(value * weight for value, weight in labelled)
    n_hat = math.fsum(weight for _, weight in labelled)
    if population is None:
        return HorvitzThompson(total, n_hat, Unavailable("the population's size is not given"), total / n_hat)
    size = count("population", population)
    return HorvitzThompson(total, n_hat, ratio(total, size, "empty population"), total / n_hat)


def kish(weights: Sequence[float]) -> Number:
    """Effective sample size (sum w)^2 / sum w^2: how many equally weighted items these are worth.

    >>> kish([1, 1, 4])
    2.0
    """
    w = checked_weights("weights", weights, len(weights))
    if not w.any():
        return Unavailable(NO_WEIGHT)
    w = w / w.max()  # scale-free: squares of tiny or huge weights would leave the floats
    return float(w.sum() ** 2 / (w**2).sum())


def weighted_rate(values: Sequence[float], weights: Sequence[float]) -> Number:
    """Weighted share of ones; unavailable when the total weight is 0."""
    w = checked_weights("weights", weights, same_length(flags=values, weights=weights))
    return ratio(float(np.dot(flags("flags", values), w)), float(w.sum()), NO_WEIGHT)


class DecisionStratum(NamedTuple):
    """A stratum of the judge's own decisions: its share (or sample size), its human-fail rate, the judge's label."""

    share: float
    fail_rate: float
    judge: Literal["pass", "fail"]


def stratum_spec(strata: Sequence[DecisionStratum]) -> Number:
    """The Spec that a sample drawn by the judge's own decisions shows; shares decide it (S2 6.4, quirk 5).

    >>> spec = stratum_spec([DecisionStratum(0.75, 0.05, "pass"), DecisionStratum(0.25, 0.70, "fail")])
    >>> round(spec, 2)
    0.82
    """
    fails = caught = 0.0
    for i, stratum in enumerate(strata):
        choice(f"strata[{i}].judge", stratum.judge, ("pass", "fail"))
        mass = real(f"strata[{i}].share", stratum.share, at_least=0.0) * share(f"strata[{i}].fail_rate", stratum[1])
        fails += mass
        caught += mass * (stratum.judge == "fail")
    return ratio(caught, fails, "no human fail")
