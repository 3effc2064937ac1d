"""A rate without an interval is not yet a result: Wilson and Clopper-Pearson, exact at 0 and 1, absent at m = 0."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from stats.checks import choice, count, open_share, real, share, successes
from stats.distributions import beta_quantile, binomial_pmf, normal_quantile
from stats.unavailable import Unavailable

Side = Literal["two-sided", "lower", "upper"]
SIDES: tuple[Side, ...] = ("two-sided", "lower", "upper")
NO_TRIALS = "m = 0: nothing was observed, so there is no rate and no interval"


@dataclass(frozen=True, slots=True)
class Proportion:
    """p = x / m with its interval. A one-sided interval reaches to 0 or to 1 on the other side."""

    x: int
    m: int
    p: float
    lo: float
    hi: float


def wilson(
    x: int, m: int, *, conf: float = 0.95, side: Side = "two-sided", z: float | None = None
) -> Proportion | Unavailable:
    """The Wilson score interval of x successes in m trials; unavailable at m = 0.

    ``side="lower"`` / ``"upper"`` give a one-sided bound at ``conf``; ``z`` overrides the exact normal quantile.
    Closed at the ends: x = 0 starts at exactly 0, x = m ends at exactly 1.
    Source: S1 "Wilson interval"; Brown, Cai & DasGupta (2001).

    >>> r = wilson(18, 24)
    >>> round(r.lo, 4), round(r.hi, 4)
    (0.551, 0.88)
    >>> [round(100 * b, 1) for b in (wilson(5, 100).lo, wilson(5, 100).hi)]
    [2.2, 11.2]
    """
    m = count("m", m)
    x = successes("x", x, m)
    choice("side", side, SIDES)
    z = _z(conf, side) if z is None else real("z", z, above=0.0)
    if m == 0:
        return Unavailable(NO_TRIALS)
    p, zz = x / m, z * z
    centre = p + zz / (2 * m)
    reach = z * math.sqrt(p * (1 - p) / m + zz / (4 * m * m))
    return _closed(x, m, (centre - reach) / (1 + zz / m), (centre + reach) / (1 + zz / m), side)


def clopper_pearson(x: int, m: int, *, conf: float = 0.95, side: Side = "two-sided") -> Proportion | Unavailable:
    """The exact (Clopper-Pearson) interval: never covers less than ``conf``; unavailable at m = 0.

    >>> r = clopper_pearson(81, 263)  # Newcombe (1998)
    >>> round(r.lo, 4), round(r.hi, 4)
    (0.2527, 0.3676)
    """
    m = count("m", m)
    x = successes("x", x, m)
    choice("side", side, SIDES)
    tail = 1 - open_share("conf", conf)
    if m == 0:
        return Unavailable(NO_TRIALS)
    tail = tail / 2 if side == "two-sided" else tail
    lo = beta_quantile(tail, x, m - x + 1) if x > 0 else 0.0
    hi = beta_quantile(1 - tail, x + 1, m - x) if x < m else 1.0
    return _closed(x, m, lo, hi, side)


def wald(x: int, m: int, *, conf: float = 0.95, side: Side = "two-sided") -> Proportion | Unavailable:
    """The normal approximation, here only to show why not: it covers too little, and nothing at x = 0."""
    m = count("m", m)
    x = successes("x", x, m)
    choice("side", side, SIDES)
    if m == 0:
        return Unavailable(NO_TRIALS)
    p = x / m
    reach = _z(conf, side) * math.sqrt(p * (1 - p) / m)
    return Proportion(x, m, p, 0.0 if side == "upper" else p - reach, 1.0 if side == "lower" else p + reach)


METHODS = {"wilson": wilson, "clopper_pearson": clopper_pearson, "wald": wald}


def interval_coverage(method: str, n: int, p: float, *, conf: float = 0.95) -> float | Unavailable:
    """How often the interval of this method really contains p, exactly, at n trials.

    >>> round(interval_coverage("wald", 12, 0.5), 3), round(interval_coverage("wilson", 12, 0.5), 3)
    (0.854, 0.961)
    """
    choice("method", method, METHODS)
    n, p = count("n", n), share("p", p)
    if n == 0:
        return Unavailable(NO_TRIALS)
    chances = binomial_pmf(n, p)
    covered = 0.0
    for x, chance in enumerate(chances):
        interval = METHODS[method](x, n, conf=conf)
        if isinstance(interval, Proportion) and interval.lo - 1e-12 <= p <= interval.hi + 1e-12:
            covered += float(chance)
    return min(covered, 1.0)  # rounding of n + 1 terms


def _z(conf: float, side: Side) -> float:
    conf = open_share("conf", conf)
    return normal_quantile(0.5 + conf / 2 if side == "two-sided" else conf)


def _closed(x: int, m: int, lo: float, hi: float, side: Side) -> Proportion:
    # The formulas leave 1e-17 and 0.9999999999999999 at the ends; a share of none is exactly 0 or 1.
    lo = 0.0 if x == 0 or side == "upper" else max(lo, 0.0)
    hi = 1.0 if x == m or side == "lower" else min(hi, 1.0)
    return Proportion(x, m, x / m, lo, hi)
