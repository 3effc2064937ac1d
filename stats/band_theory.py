"""What the band rule does before any data: its false alarms, its width, its noise (S2 6.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from stats.checks import StatsInputError, count, open_share, real, share
from stats.distributions import binomial_at_least, chi2_quantile, t_cdf, t_quantile
from stats.unavailable import Number, Unavailable

NO_SPREAD = "a spread needs at least two raters"


def band_width(alpha: float = 0.05, raters: int = 3) -> Number:
    """The width at which an equally good judge falls below mean - width x sd with probability alpha.

    A prediction interval: t with R - 1 degrees of freedom times sqrt(1 + 1/R). Unavailable for one rater.

    >>> [round(band_width(0.05, r), 2) for r in (3, 5)]
    [3.37, 2.34]
    """
    alpha, raters = open_share("alpha", alpha), count("raters", raters)
    if raters < 2:
        return Unavailable(NO_SPREAD)
    return t_quantile(1 - alpha, raters - 1) * math.sqrt(1 + 1 / raters)


def band_false_alarm(width: float = 2.0, raters: int = 3) -> Number:
    """How often an equally good judge falls below the band in one check; the inverse of ``band_width``.

    >>> round(band_false_alarm(2.0, 3), 2)
    0.11
    """
    width, raters = real("width", width), count("raters", raters)
    if raters < 2:
        return Unavailable(NO_SPREAD)
    return t_cdf(-width / math.sqrt(1 + 1 / raters), raters - 1)


@dataclass(frozen=True, slots=True)
class SdInterval:
    """The true standard deviation over the observed one."""

    lo: float
    hi: float


def sd_interval_factor(raters: int = 3, conf: float = 0.95) -> SdInterval | Unavailable:
    """How little a handful of raters says about their spread: true sd / observed sd lies in [lo, hi].

    >>> f = sd_interval_factor(3)
    >>> round(f.lo, 2), round(f.hi, 2)
    (0.52, 6.28)
    """
    raters, conf = count("raters", raters), open_share("conf", conf)
    if raters < 2:
        return Unavailable(NO_SPREAD)
    df, tail = raters - 1, (1 - conf) / 2
    return SdInterval(math.sqrt(df / chi2_quantile(1 - tail, df)), math.sqrt(df / chi2_quantile(tail, df)))


@dataclass(frozen=True, slots=True)
class MajorityBias:
    """Agreement with the panel's majority: of a member, whose own vote is in it, and of an equally good outsider."""

    member: float
    outsider: float
    majority_correct: float


def majority_bias(p: float, raters: int = 3) -> MajorityBias:
    """Why Eq. (5) read literally is biased against the judge: the raters helped to make their own reference.

    Everybody is right with probability p, independently; raters must be odd.

    >>> b = majority_bias(0.8)
    >>> round(b.member, 2), round(b.outsider, 3)
    (0.84, 0.738)
    """
    p, raters = share("p", p), count("raters", raters, at_least=1)
    if raters % 2 == 0:
        raise StatsInputError("raters", raters, "must be odd: an even panel can tie")
    need = raters // 2
    right = binomial_at_least(need + 1, raters, p)
    member = p * binomial_at_least(need, raters - 1, p) + (1 - p) * binomial_at_least(need, raters - 1, 1 - p)
    return MajorityBias(member, p * right + (1 - p) * (1 - right), right)


def multiplicity(p: float, k: int = 18) -> float:
    """Chance that at least one of k independent checks alarms. The weekly checks overlap, so this is the upper end.

    >>> round(multiplicity(0.05), 2)  # three judges, three metrics, two slices at width 3.37
    0.6
    """
    return 1 - (1 - share("p", p)) ** count("k", k)


def prob_run(p: float, consecutive: int, n: int) -> float:
    """Chance of at least one run of ``consecutive`` alarms within n independent checks.

    >>> round(prob_run(0.83, 2, 2), 2)
    0.69
    """
    p, n = share("p", p), count("n", n)
    consecutive = count("consecutive", consecutive, at_least=1)
    running, done = [1.0] + [0.0] * (consecutive - 1), 0.0
    for _ in range(n):
        done += running[-1] * p
        running = [sum(running) * (1 - p), *(state * p for state in running[:-1])]
    return done
