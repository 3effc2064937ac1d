"""What retrying against the judge does: leaks, bounds, break-even, and how to tell persistence of misses (S2 6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from stats.checks import StatsInputError, choice, count, real, share
from stats.proportions import Side, wilson
from stats.sequences import bernoulli_confidence_sequence
from stats.unavailable import Number, Unavailable

Decision = Literal["lower", "keep", "pool"]


def leak(spec: float, retry_budget: int) -> float:
    """Chance that a defect that stays is served within K retries, if each miss is independent: 1 - Spec^(K+1).

    >>> [round(leak(0.9, k), 3) for k in range(4)]
    [0.1, 0.19, 0.271, 0.344]
    """
    return 1 - share("spec", spec) ** (count("retry_budget", retry_budget) + 1)


def leak_union_bound(spec: float, retry_budget: int) -> float:
    """The same under any dependence between attempts: at most (K+1)(1 - Spec).

    >>> round(leak_union_bound(0.9, 3), 2)
    0.4
    """
    return min(1.0, (count("retry_budget", retry_budget) + 1) * (1 - share("spec", spec)))


@dataclass(frozen=True, slots=True)
class AndGate:
    """Per attempt: leak, the share of bad drafts that both pass; rec, the share of good drafts that both pass."""

    leak: float
    rec: float


def and_gate(spec1: float, spec2: float, rec1: float, rec2: float) -> AndGate:
    """Both judges must pass. Their errors are taken as independent, which is optimistic across model families."""
    s1, s2, r1, r2 = share("spec1", spec1), share("spec2", spec2), share("rec1", rec1), share("rec2", rec2)
    return AndGate((1 - s1) * (1 - s2), r1 * r2)


def expected_drafts(pass_curve: Sequence[float]) -> float:
    """Drafts per item at budget K, from the cumulative pass rates at 0..K-1 retries: 1 + sum of (1 - rate).

    >>> round(expected_drafts([0.30, 0.50, 0.62]), 2)  # S2 4.2, K = 3
    2.58
    """
    return 1 + sum(1 - share(f"pass_curve[{k}]", rate) for k, rate in enumerate(pass_curve))


def lift_fraction(curve: Sequence[float], k_index: int, end_index: int = -1) -> Number:
    """Share of the achievable lift that is reached at position k: (curve[k] - curve[0]) / (curve[end] - curve[0])."""
    values = [share(f"curve[{k}]", value) for k, value in enumerate(curve)]
    for name, index in (("k_index", k_index), ("end_index", end_index)):
        if not -len(values) <= index < len(values):
            raise StatsInputError(name, index, f"must be a position in a curve of {len(values)} points")
    lift = values[end_index] - values[0]
    return Unavailable("there is no lift") if lift == 0 else (values[k_index] - values[0]) / lift


def break_even_rate(*, good: float = 1.0, defect_cost: float = 50.0, fallback: float = 0.0) -> Number:
    """The defect share above which serving loses: (v - f) / (v + c).

    A good item is worth ``good``, a served defect costs ``defect_cost``, a drop still shows ``fallback``.

    >>> round(break_even_rate(), 4)
    0.0196
    """
    good, cost = real("good", good, at_least=0.0), real("defect_cost", defect_cost, at_least=0.0)
    fallback = real("fallback", fallback, at_least=0.0)
    if fallback > good:
        return Unavailable("the fallback is worth more than a good item: serving never pays")
    return break_even_from_costs(drop_good=good - fallback, serve_defect=cost + fallback)


def break_even_from_costs(*, drop_good: float = 1.0, serve_defect: float = 50.0) -> Number:
    """The same from the charter's two costs: drop_good / (drop_good + serve_defect). Both are against the fallback."""
    drop_good = real("drop_good", drop_good, at_least=0.0)
    total = drop_good + real("serve_defect", serve_defect, at_least=0.0)
    return drop_good / total if total else Unavailable("both costs are 0: nothing is at stake")


def net_value(
    good: float,
    bad: float,
    *,
    drop_good: float = 1.0,
    serve_defect: float = 50.0,
    regenerations: float = 0.0,
    regenerate: float = 0.0,
) -> float:
    """What serving these items is worth: good x drop_good - bad x serve_defect - regenerations x regenerate.

    >>> net_value(3661, 496)  # S2 6.2, what three retries add per 10,000 items
    -21139.0
    """
    good, bad = real("good", good, at_least=0.0), real("bad", bad, at_least=0.0)
    drafts = real("regenerations", regenerations, at_least=0.0) * real("regenerate", regenerate, at_least=0.0)
    return good * real("drop_good", drop_good) - bad * real("serve_defect", serve_defect) - drafts


@dataclass(frozen=True, slots=True)
class MarginalStep:
    """lower: the step's defect share is above break-even for sure; keep: below for sure; pool: collect more labels."""

    decision: Decision
    lo: Number
    hi: Number


def marginal_step(
    bad: int,
    n: int,
    break_even_rate: float,
    *,
    conf: float = 0.95,
    side: Side = "two-sided",
    bound: Literal["wilson", "sequence"] = "wilson",
) -> MarginalStep:
    """May the last retry stay? bad of n labelled items first served at attempt K were defects.

    Wilson bounds hold for one look: look at fixed blocks (``pool_in_blocks``). ``bound="sequence"`` may be looked at
    every week. Source: S2 6.2, 7.6.

    >>> [marginal_step(x, n, 1 / 51).decision for x, n in ((5, 100), (0, 400), (2, 100))]
    ['lower', 'keep', 'pool']
    """
    limit = share("break_even_rate", break_even_rate)
    choice("bound", bound, ("wilson", "sequence"))
    if bound == "sequence":
        interval = bernoulli_confidence_sequence(bad, n, conf=conf)
    else:
        interval = wilson(bad, n, conf=conf, side=side)
    if isinstance(interval, Unavailable):
        return MarginalStep("pool", interval, interval)
    decision: Decision = "lower" if interval.lo > limit else "keep" if interval.hi < limit else "pool"
    return MarginalStep(decision, interval.lo, interval.hi)


def pool_in_blocks(weeks: Sequence[tuple[int, int]], *, weeks_per_block: int = 4) -> list[tuple[int, int]]:
    """(bad, n) per closed block of weeks. Looking only here keeps the promise of a one-look interval.

    Looking every week instead flags a step that is exactly at break-even in 9 % of four-week runs.
    """
    size = count("weeks_per_block", weeks_per_block, at_least=1)
    closed = range(0, len(weeks) - size + 1, size)
    return [(sum(b for b, _ in weeks[at : at + size]), sum(n for _, n in weeks[at : at + size])) for at in closed]


def persistence_from_double_miss(p_both: float, miss: float) -> Number:
    """How persistent misses are, from P(miss, miss) on two drafts of an item that keep the defect.

    P = rho m + (1 - rho) m^2. Unavailable at a miss rate of 0 or 1. The pairs cannot tell the mixture of S2 6.2 from
    other dependence with the same pair rates.
    """
    p_both, m = share("p_both", p_both), share("miss", miss)
    return (p_both - m * m) / (m * (1 - m)) if 0 < m < 1 else Unavailable("the judge misses all or nothing")


def persistence_from_catch_then_miss(p_catch_miss: float, miss: float) -> Number:
    """The same from P(catch, then miss), which logs show more easily: P = (1 - rho) m (1 - m)."""
    p, m = share("p_catch_miss", p_catch_miss), share("miss", miss)
    return 1 - p / (m * (1 - m)) if 0 < m < 1 else Unavailable("the judge misses all or nothing")


def persistence_from_miss_after_catch(p_missed: float, miss: float) -> Number:
    """The same from the share missed among pairs whose first bad draft was caught, all that a gate lets happen.

    P(miss | caught before) = (1 - rho) m holds for a first draft and its revision; a later draft has been caught more
    often, and such items are more often those that are always caught.

    >>> persistence_from_miss_after_catch(0.05, 0.1)
    0.5
    """
    p, m = share("p_missed", p_missed), share("miss", miss)
    return 1 - p / m if 0 < m < 1 else Unavailable("the judge misses all or nothing")
