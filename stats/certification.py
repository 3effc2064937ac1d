"""How many human fails does a floor need? Score or Clopper-Pearson; Wald only to show why not (S2 7.5)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from stats.checks import choice, count, open_share, real, share
from stats.distributions import beta_quantile, binomial_pmf, normal_quantile
from stats.unavailable import Unavailable

Method = Literal["score", "wald", "clopper_pearson"]
NOT_ABOVE = "the value does not exceed the floor: no number of items certifies it"


def n_certify_observed(
    observed: float,
    floor: float,
    *,
    conf: float = 0.95,
    method: Literal["wilson", "wald", "clopper_pearson"] = "wilson",
) -> int | Unavailable:
    """Items at which an observed share of exactly ``observed`` just clears the floor, one-sided at ``conf``.

    Clearing it at that n is a coin toss even for a judge whose true value is ``observed``: see ``n_certify_power``.

    >>> n_certify_observed(0.97, 0.95), n_certify_observed(0.97, 0.95, method="wald")
    (322, 197)
    """
    p, floor, z = share("observed", observed), share("floor", floor), normal_quantile(open_share("conf", conf))
    choice("method", method, ("wilson", "wald", "clopper_pearson"))
    if p <= floor:
        return Unavailable(NOT_ABOVE)
    if method == "clopper_pearson":
        return _first_n(lambda n: beta_quantile(1 - conf, p * n, n - p * n + 1) >= floor)
    spread = floor * (1 - floor) if method == "wilson" else p * (1 - p)
    return max(_ceil(z**2 * spread / (p - floor) ** 2), 1)


def n_certify_power(
    true: float, floor: float, *, conf: float = 0.95, power: float = 0.8, method: Literal["score", "wald"] = "score"
) -> int | Unavailable:
    """Items with which a judge of true value ``true`` clears the floor with probability ``power``, one-sided at conf.

    >>> n_certify_power(0.97, 0.95), n_certify_power(0.99, 0.98)
    (631, 987)
    """
    true, floor = share("true", true), share("floor", floor)
    z_conf, z_power = normal_quantile(open_share("conf", conf)), normal_quantile(open_share("power", power))
    choice("method", method, ("score", "wald"))
    if true <= floor:
        return Unavailable(NOT_ABOVE)
    under_true, under_floor = math.sqrt(true * (1 - true)), math.sqrt(floor * (1 - floor))
    at_bound = under_floor if method == "score" else under_true
    return max(_ceil((z_conf * at_bound + z_power * under_true) ** 2 / (true - floor) ** 2), 1)


def n_below_cap(
    true: float, cap: float, *, conf: float = 0.95, power: float = 0.8, method: Literal["score", "wald"] = "score"
) -> int | Unavailable:
    """Labels with which a true defect rate is shown to lie below the cap with probability ``power``.

    >>> n_below_cap(0.01, 0.02)  # S2 7.7: about 990 labels
    987
    """
    return n_certify_power(1 - share("true", true), 1 - share("cap", cap), conf=conf, power=power, method=method)


@dataclass(frozen=True, slots=True)
class CertificationOdds:
    """power: chance to certify a judge of the true value; size: chance to certify one exactly on the floor."""

    power: float
    size: float
    smallest_pass: int | Unavailable


def certify_exact(
    n: int, true: float, floor: float, *, conf: float = 0.95, method: Method = "score"
) -> CertificationOdds | Unavailable:
    """The certification rule's exact odds at n items. Wald certifies far more often than 1 - conf at the floor.

    >>> o = certify_exact(631, 0.97, 0.95)
    >>> round(o.power, 2), round(o.size, 3)
    (0.8, 0.044)
    """
    n, true, floor = count("n", n), share("true", true), share("floor", floor)
    choice("method", method, ("score", "wald", "clopper_pearson"))
    if n == 0:
        return Unavailable("n = 0: nothing can be certified")
    passing = _passing(n, floor, open_share("conf", conf), method)
    first = int(np.argmax(passing)) if passing.any() else Unavailable("n is too small: a perfect result would not do")
    power, size = (min(float(binomial_pmf(n, p)[passing].sum()), 1.0) for p in (true, floor))
    return CertificationOdds(power, size, first)


def _passing(n: int, floor: float, conf: float, method: Method) -> np.ndarray:
    x = np.arange(n + 1, dtype=np.float64)
    if method == "clopper_pearson":
        from scipy.special import betaincinv

        lower = np.concatenate([[0.0], betaincinv(x[1:], n - x[1:] + 1, 1 - conf)])
        return np.asarray(lower >= floor - 1e-12)
    spread = np.full(n + 1, floor * (1 - floor)) if method == "score" else x / n * (1 - x / n)
    return np.asarray(x / n - normal_quantile(conf) * np.sqrt(spread / n) >= floor - 1e-12)


def _first_n(clears: Callable[[int], bool]) -> int:
    """The smallest n that clears; the bound rises with n at a fixed share."""
    high = 1
    while not clears(high):
        high *= 2
    low = high // 2 + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if clears(middle) else (middle + 1, high)
    return high


def _ceil(value: float) -> int:
    # 384.0000000001 is 384: the formula's rounding must not cost an item.
    return math.ceil(real("n", value) - 1e-9)
