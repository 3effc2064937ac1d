"""How persistent the judge's misses are: would a defect that it missed be missed again? (S2 6.2)"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import orjson

from schemas.reports import Figure, Health
from stats.retries import persistence_from_miss_after_catch
from stats.unavailable import Number, Unavailable, ratio
from stats.verdicts import PASS
from workers.stats_consumer.cells import FIRST_DRAFTS, PAIRS
from workers.stats_consumer.figure import value
from workers.stats_consumer.rules import Rules
from workers.stats_consumer.week import Week


class Missed(NamedTuple):
    """Drafts that are bad for people, and the share that the judge missed, each draft weighing 1 / its inclusion."""

    n: int
    share: Number


def persistence_figures(weeks: Sequence[Week], rules: Rules) -> Iterator[Figure]:
    """``miss_persistence`` of each criterion over the weeks: rho, 0 = a fresh draw each time, 1 = always the same."""
    for criterion in sorted({criterion for week in weeks for criterion in week.criteria()}):
        after_catch = missed(weeks, PAIRS, criterion)
        yield value(
            Health.SERVED, "miss_persistence", rho(after_catch, missed(weeks, FIRST_DRAFTS, criterion), rules),
            of="bad first drafts that were caught, with a bad revision", n=after_catch.n,
            scope={"criterion": criterion},
        )  # fmt: skip


def rho(after_catch: Missed, first: Missed, rules: Rules) -> Number:
    """From misses right after a catch and misses of first drafts."""
    if after_catch.n < rules.min_pairs:
        more = rules.min_pairs - after_catch.n
        return Unavailable(f"{more} more pairs with a caught bad first draft and a bad revision (hitl.weekly_pairs)")
    if isinstance(after_catch.share, Unavailable) or isinstance(first.share, Unavailable):
        return Unavailable("labelled first drafts that people fail")
    return persistence_from_miss_after_catch(after_catch.share, first.share)


def missed(weeks: Sequence[Week], subject: str, criterion: str) -> Missed:
    """Weights are summed exactly, so that the order of the weeks and cells does not matter."""
    seen: Counter[tuple[str, float]] = Counter()
    for week in weeks:
        for cell, n in week.cells(subject).items():
            of, judge, weight = orjson.loads(cell)
            if of == criterion:
                seen[judge, weight] += n
    total = math.fsum(weight * n for (_, weight), n in seen.items())
    misses = math.fsum(weight * n for (judge, weight), n in seen.items() if judge == PASS)
    return Missed(seen.total(), ratio(misses, total, "no labelled draft that people fail"))
