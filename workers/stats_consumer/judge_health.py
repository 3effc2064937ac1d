"""Judge health without labels: does it answer, how fast, at what cost, and is it the model that was pinned?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping

from schemas.reports import Figure, Health
from schemas.verdict_space import Flag
from stats.length_bias import LengthMoments
from stats.unavailable import Number, Unavailable, ratio
from workers.stats_consumer.cells import (
    CAUSES,
    CONFLICT,
    FLAGS,
    LATENCY_STEP,
    LENGTH,
    LENGTH_STEP,
    ROUNDS,
    STATUS,
    USAGE,
    middle,
)
from workers.stats_consumer.figure import share, value
from workers.stats_consumer.week import Week

_J = Health.JUDGE
_QUANTILES = (0.5, 0.95, 0.99)


def judge_figures(week: Week) -> Iterator[Figure]:
    usage = week.cells(USAGE)
    for criterion in week.criteria():
        yield from _coverage(week, criterion)
    for flag in Flag:
        yield share(_J, str(flag), week.cells(FLAGS)[flag], usage["attempts"], of="attempts")
    for quantile in _QUANTILES:
        yield value(_J, f"latency_ms_p{quantile * 100:g}", latency_quantile(usage, quantile), of="attempts")
    yield from _cost(usage)
    yield share(_J, "cached_rate", usage["cached"], usage["verdicts"], of="verdicts")
    yield value(_J, "conflicting_decisions", week.strata(ROUNDS).get(STATUS, {}).get(CONFLICT, 0), of="rounds")


def _coverage(week: Week, criterion: str) -> Iterator[Figure]:
    labels = week.cells(criterion)
    yield share(
        _J, "coverage", labels["pass|"] + labels["fail|"], labels.total(), of="verdicts", scope={"criterion": criterion}
    )
    for cell, n in sorted(week.cells(CAUSES).items()):
        of, cause = cell.rsplit("|", 1)
        if of == criterion:
            yield share(
                _J,
                "non_decision_rate",
                n,
                labels.total(),
                of="verdicts",
                scope={"criterion": criterion, "cause": cause},
            )
    slope = length_slope(week.cells(LENGTH), criterion)
    if isinstance(slope, Unavailable):
        yield value(_J, "length_slope", slope, scope={"criterion": criterion})
    else:
        yield slope


def latency_quantile(usage: Mapping[str, int], quantile: float) -> Number:
    """In milliseconds, off by 2 % at most: latencies are kept in buckets of 4 %."""
    counted = sorted((int(cell.split("|")[1]), n) for cell, n in usage.items() if cell.startswith("latency|"))
    rank = math.ceil(quantile * sum(n for _, n in counted))
    for number, n in counted:
        rank -= n
        if rank <= 0:
            return middle(number, LATENCY_STEP)
    return Unavailable("no attempt yet")


def length_slope(cells: Mapping[str, int], criterion: str) -> Figure | Unavailable:
    """Change of the pass share of first drafts when the text gets e times as long; lengths in buckets of 2 %."""
    moments = LengthMoments()
    for cell, n in cells.items():
        of, number, label = cell.rsplit("|", 2)
        if of == criterion:
            moments = moments.add(float(label == "pass"), middle(int(number), LENGTH_STEP), times=n)
    slope = moments.slope()
    if isinstance(slope, Unavailable):
        return slope
    return value(
        _J, "length_slope", slope.slope, of="decided first drafts", lo=slope.lo, hi=slope.hi, n=slope.n,
        scope={"criterion": criterion},
    )  # fmt: skip


def _cost(usage: Counter[str]) -> Iterator[Figure]:
    attempts, unknown = usage["attempts"], usage["cost_unknown"]
    known = attempts - unknown
    cost = ratio(usage["cost_microusd"] / 1_000_000, known, "the cost of no attempt is known: set a price table")
    yield value(_J, "cost_usd_per_attempt", cost, of="attempts of known cost", n=known)
    yield share(_J, "cost_unknown_rate", unknown, attempts, of="attempts")
    yield value(_J, "model_calls_per_attempt", ratio(usage["calls"], attempts, "no attempt yet"), n=attempts)
