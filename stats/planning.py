"""Sample sizes and weekly bills (S2 6.5, 7.4, 7.10)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from stats.checks import StatsInputError, count, open_share, real, share
from stats.distributions import normal_quantile, two_sided_z
from stats.kappa import cohen_kappa
from stats.unavailable import Number, Unavailable


def n_for_halfwidth(p: float, halfwidth: float, *, conf: float = 0.95, z: float | None = None) -> int:
    """Items for an interval of p plus or minus ``halfwidth`` (normal approximation, z^2 p q / d^2).

    >>> n_for_halfwidth(0.9, 0.05), n_for_halfwidth(0.9, 0.03)
    (139, 385)
    """
    p, d = share("p", p), open_share("halfwidth", halfwidth)
    z = two_sided_z(conf) if z is None else real("z", z, above=0.0)
    return max(math.ceil(z**2 * p * (1 - p) / d**2 - 1e-9), 1)


def halfwidth(p: float, n: int, *, conf: float = 0.95) -> Number:
    """How far an interval of p reaches to either side with n items (normal approximation)."""
    p, n = share("p", p), count("n", n)
    return two_sided_z(conf) * math.sqrt(p * (1 - p) / n) if n else Unavailable("n = 0")


def ab_sample_size(baseline: float, relative_lift: float, *, alpha: float = 0.05, power: float = 0.8) -> Number:
    """Users per arm to see a relative lift of a rate (two-sided two-proportion z test, unpooled variance).

    >>> round(ab_sample_size(0.5, 0.003)), round(ab_sample_size(0.3, 0.003))
    (1744188, 4073270)
    """
    before = open_share("baseline", baseline)
    after = before * (1 + real("relative_lift", relative_lift))
    if not 0 <= after <= 1:
        raise StatsInputError("relative_lift", relative_lift, "must leave the rate between 0 and 1")
    if after == before:
        return Unavailable("no lift, no sample size")
    z = two_sided_z(1 - open_share("alpha", alpha)) + normal_quantile(open_share("power", power))
    return z**2 * (before * (1 - before) + after * (1 - after)) / (after - before) ** 2


def n_for_kappa(kappa: float, prevalence: float, halfwidth: float, *, conf: float = 0.95) -> int | Unavailable:
    """Items that two raters must both label for an interval of kappa plus or minus ``halfwidth`` on pass/fail labels.

    prevalence: share of fails, the same for both raters. More raters need fewer items. Large-sample error of kappa
    (Fleiss, Cohen & Everitt 1969). Unavailable when one class never occurs.
    """
    k, p = real("kappa", kappa, at_least=0.0), share("prevalence", prevalence)
    if k > 1:
        raise StatsInputError("kappa", kappa, "must lie between 0 and 1")
    if p in (0.0, 1.0):
        return Unavailable("one class only: kappa does not exist")
    both = p * (1 - p)
    cells = 10**9  # the expected table, fine enough that rounding it to counts does not matter
    agree_fail, agree_pass, apart = (
        round(cells * c) for c in (p * p + k * both, (1 - p) ** 2 + k * both, (1 - k) * both)
    )
    table = cohen_kappa([[agree_fail, apart], [apart, agree_pass]], conf=conf)
    if isinstance(table, Unavailable) or isinstance(table.se, Unavailable):
        return Unavailable("kappa does not exist here")
    n = (two_sided_z(conf) * table.se / open_share("halfwidth", halfwidth)) ** 2 * table.n
    return max(math.ceil(n - 1e-6), 2)


@dataclass(frozen=True, slots=True)
class HumanCost:
    """Per week: ratings, hours of rating, money."""

    ratings: int
    hours: float
    cost: float


def weekly_human_cost(
    items: int = 300, raters: int = 3, *, minutes: float = 1.0, hourly_rate: float = 1.0
) -> HumanCost:
    """n R t w: items a week, raters an item, minutes a rating, money an hour. Reasons take longer than labels.

    >>> weekly_human_cost(300, 3).ratings
    900
    """
    ratings = count("items", items) * count("raters", raters)
    hours = ratings * real("minutes", minutes, at_least=0.0) / 60
    return HumanCost(ratings, hours, hours * real("hourly_rate", hourly_rate, at_least=0.0))


@dataclass(frozen=True, slots=True)
class InferenceCost:
    """Per week, in the unit of the prices: generating, judging, auditing what is served, the daily canary, all."""

    generation: float
    judging: float
    audit: float
    canary: float
    total: float


def weekly_inference_cost(
    items: float,
    drafts_per_item: float,
    criteria: int,
    judge_cost: float,
    *,
    generation_cost: float = 0.0,
    served: float = 0.0,
    audit_cost: float = 0.0,
    canary_items: int = 0,
    days: int = 7,
) -> InferenceCost:
    """N D (c_gen + C c_judge) + N_served c_audit + days n_canary C c_judge.

    >>> round(weekly_inference_cost(300_000, 2.58, 3, 0.001).total)
    2322
    """
    drafts = real("items", items, at_least=0.0) * real("drafts_per_item", drafts_per_item, at_least=1.0)
    one_draft = count("criteria", criteria) * real("judge_cost", judge_cost, at_least=0.0)
    generation = drafts * real("generation_cost", generation_cost, at_least=0.0)
    audit = real("served", served, at_least=0.0) * real("audit_cost", audit_cost, at_least=0.0)
    canary = count("days", days) * count("canary_items", canary_items) * one_draft
    judging = drafts * one_draft
    return InferenceCost(generation, judging, audit, canary, generation + judging + audit + canary)
