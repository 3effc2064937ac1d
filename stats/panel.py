"""A week of labels as counts of label patterns: all that the band check needs to remember.

With R raters an item is one of a few patterns (judge, votes); a week of any size is a handful of integers. They add up
over consumers and are taken back one by one, and every choice of width, reference and resampling is made at read time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from stats.checks import Floats, StatsInputError, labels, same_length
from stats.checks import weights as checked_weights
from stats.verdicts import FAIL, MENU, PASS

Vote = str | None
"""A rater's label; None where this rater did not rate the item."""


class Pattern(NamedTuple):
    """What can be told apart about an item: its stratum, its weight, the judge's label and the raters' votes."""

    stratum: str
    weight: float
    judge: str
    votes: tuple[Vote, ...]


class PanelCounts:
    """How many items show each pattern. Adding and taking back in any order, over any split, gives the same counts."""

    __slots__ = ("counts",)

    def __init__(self, counts: Mapping[Pattern, int] | None = None) -> None:
        self.counts: Counter[Pattern] = Counter(dict(counts or {}))

    @property
    def n_items(self) -> int:
        return sum(self.counts.values())

    @property
    def n_raters(self) -> int:
        return max((len(p.votes) for p in self.counts), default=0)

    def add(self, pattern: Pattern, times: int = 1) -> None:
        self.counts[pattern] += times
        if not self.counts[pattern]:
            del self.counts[pattern]

    def retract(self, pattern: Pattern) -> None:
        self.add(pattern, -1)

    def merge(self, other: PanelCounts) -> PanelCounts:
        merged = PanelCounts(self.counts)
        for pattern, times in other.counts.items():
            merged.add(pattern, times)
        return merged

    def check_settled(self) -> None:
        """A shard may hold a retraction before its addition; the merged whole may not."""
        for pattern, n in self.counts.items():
            if n < 0:
                raise StatsInputError("counts", n, f"must not be negative once all shards are merged ({pattern})")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PanelCounts) and dict(self.counts) == dict(other.counts)

    def __hash__(self) -> int:
        raise TypeError("PanelCounts changes: it has no hash")

    def to_json(self) -> list[list[Any]]:
        return [[p.stratum, p.weight, p.judge, list(p.votes), n] for p, n in sorted(self.counts.items(), key=repr)]

    @classmethod
    def from_json(cls, rows: Iterable[Sequence[Any]]) -> PanelCounts:
        return cls({Pattern(s, float(w), j, tuple(votes)): int(n) for s, w, j, votes, n in rows})


def panel_counts(
    judge: Sequence[str],
    panel: Sequence[Sequence[Vote]],
    *,
    weights: Sequence[float] | None = None,
    strata: Sequence[str] | None = None,
) -> PanelCounts:
    """Collapse raw labels, judge (items,) and panel (raters, items), to pattern counts.

    weights: inverse inclusion probabilities; strata: within which the bootstrap resamples. A rater's None is missing.
    """
    items = same_length(judge=judge, **{f"panel[{i}]": row for i, row in enumerate(panel)})
    _check_menu("judge", judge, MENU)
    for i, row in enumerate(panel):
        _check_menu(f"panel[{i}]", row, (PASS, FAIL), optional=True)
    if strata is not None:
        same_length(judge=judge, strata=strata)
    weight: Floats = checked_weights("weights", weights, items)
    columns = zip(
        map(str, strata) if strata is not None else ("all",) * items,
        weight.tolist(),
        judge,
        zip(*panel, strict=True) if panel else ((),) * items,
        strict=True,
    )
    return PanelCounts({Pattern(*key): n for key, n in Counter(columns).items()})


def _check_menu(name: str, values: Sequence[Any], menu: tuple[str, ...], *, optional: bool = False) -> None:
    # Only the distinct values are looked at: a week has hundreds of labels and a handful of words.
    try:
        labels(name, tuple(set(values)), menu, optional=optional)
    except TypeError as error:
        raise StatsInputError(name, values, f"must hold only {', '.join(menu)}") from error


def majority(votes: Iterable[Vote]) -> Vote:
    """The label of more than half of the votes cast; None on a tie or without a vote.

    >>> majority(["fail", "fail", "pass"]), majority(["fail", "pass"])
    ('fail', None)
    """
    cast = [vote for vote in votes if vote is not None]
    return next((vote for vote in cast if 2 * cast.count(vote) > len(cast)), None)


def exact(number: float) -> Fraction:
    """The decimal that a float was written as: 0.86 is 86/100, so that a judge on the bound is on it."""
    return Fraction(repr(float(number)))
