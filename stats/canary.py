"""The daily canary: how many flips against the certified verdicts are too many? (S2 7.6)"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from stats.checks import StatsInputError, count, open_share, share
from stats.distributions import binomial_at_least
from stats.unavailable import Unavailable


def canary_threshold(n: int, baseline: float, *, level: float = 0.01) -> int | Unavailable:
    """The smallest flip count that chance reaches at most with probability ``level``: alarm from here on.

    n: items re-judged; baseline: flip rate of an unchanged judge (1 - test-retest agreement). Unavailable when even n
    flips would be no surprise.

    >>> canary_threshold(150, 0.02)
    9
    """
    n, baseline, level = count("n", n), share("baseline", baseline), open_share("level", level)
    if n == 0:
        return Unavailable("no item was re-judged")
    low, high = 0, n + 1
    while low < high:  # the tail falls with t: bisect for the first t at or under the level
        middle = (low + high) // 2
        if binomial_at_least(middle, n, baseline) <= level:
            high = middle
        else:
            low = middle + 1
    return low if low <= n else Unavailable("even all items flipping would be no surprise: use more items")


def canary_power(n: int, threshold: int, rate: float) -> float:
    """Chance that one day reaches the threshold when items flip at this rate.

    >>> round(canary_power(150, 9, 0.06), 2), round(canary_power(150, 9, 0.10), 2)
    (0.55, 0.97)
    """
    return binomial_at_least(count("threshold", threshold), count("n", n), share("rate", rate))


@dataclass(frozen=True, slots=True)
class CanaryVerdict:
    """flipped: distinct items that differ from their certified verdict on any day; alarm at the threshold."""

    flipped: int
    threshold: int
    alarm: bool
    p_value: float


def canary_over_days(
    days: Sequence[tuple[Collection[str], Iterable[str]]], *, baseline: float, level: float = 0.01
) -> CanaryVerdict | Unavailable:
    """Several days together, over *distinct* items: each day is (items re-judged, items that flipped).

    At temperature 0 a silent model change flips the same items every day, so counting them again adds no information;
    rotating the items does. An unchanged judge flips an item seen on d days with probability 1 - (1 - baseline)^d, and
    the largest d is used for all, which errs towards silence.
    """
    baseline = share("baseline", baseline)
    seen: dict[str, int] = {}
    flipped: set[str] = set()
    for i, (judged, flips) in enumerate(days):
        today = set(judged)
        for item in today:
            seen[item] = seen.get(item, 0) + 1
        changed = set(flips)
        if not changed <= today:
            raise StatsInputError(f"days[{i}]", sorted(changed - today), "must flip only items that were re-judged")
        flipped |= changed
    if not seen:
        return Unavailable("no item was re-judged")
    chance = 1 - (1 - baseline) ** max(seen.values())
    threshold = canary_threshold(len(seen), chance, level=level)
    if isinstance(threshold, Unavailable):
        return threshold
    n = len(flipped)
    return CanaryVerdict(n, threshold, n >= threshold, binomial_at_least(n, len(seen), chance))
