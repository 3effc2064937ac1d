"""Position and self-preference: two biases to measure, not to assume away (S1 "Binding and biases")."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stats.checks import StatsInputError, count, labels, same_length, successes
from stats.proportions import Proportion, wilson
from stats.unavailable import Number, Unavailable, ratio
from stats.verdicts import FAIL, MENU, NON_DECISIONS, PASS

PAIR_MENU = ("A", "B", "TIE", *NON_DECISIONS)
OTHER = {"A": "B", "B": "A"}


class OrderPairs:
    """Verdicts of one pair in both orders, in slot terms: A is whatever was shown first.

    Two ways to make it, because mixing up the terms inverts every rate. ``from_slots``: each verdict names a slot.
    ``from_candidates``: each names a candidate, already mapped back, with A shown first and then B shown first.
    """

    __slots__ = ("counts",)

    def __init__(self, counts: Mapping[tuple[str, str], int]) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        for pair, n in counts.items():
            labels("pair", pair, PAIR_MENU)
            self.counts[pair] += count("n", n)

    @classmethod
    def from_slots(cls, pairs: Sequence[tuple[str, str]]) -> OrderPairs:
        return cls(Counter((first, second) for first, second in pairs))

    @classmethod
    def from_candidates(cls, pairs: Sequence[tuple[str, str]]) -> OrderPairs:
        return cls(Counter((first, OTHER.get(second, second)) for first, second in pairs))

    def merge(self, other: OrderPairs) -> OrderPairs:
        return OrderPairs(self.counts + other.counts)


@dataclass(frozen=True, slots=True)
class PositionFlip:
    """Rates over the pairs decided in both orders. consistency = 1 - flip_rate: an exact swap, or a tie both times.

    reversal_rate: the same slot won twice (first_rate + second_rate), an outright contradiction. neutralized_rate: a
    winner in one order and a tie in the other, which is a flip but conforms to "swap or neutralize".
    """

    n_pairs: int
    n_decided: int
    n_undecided: int
    flip_rate: Number
    consistency: Number
    reversal_rate: Number
    neutralized_rate: Number
    first_rate: Number
    second_rate: Number


def position_flip(pairs: OrderPairs) -> PositionFlip:
    """How often the order decides (S1 "Position"; Zheng 2023). Undecided pairs are left out and counted.

    >>> f = position_flip(OrderPairs.from_slots([("A", "B"), ("A", "A"), ("A", "TIE"), ("abstain", "A")]))
    >>> round(f.flip_rate, 2), round(f.reversal_rate, 2), f.n_undecided
    (0.67, 0.33, 1)
    """
    decided = {pair: n for pair, n in pairs.counts.items() if not {*pair} & {*NON_DECISIONS}}
    n, n_pairs = sum(decided.values()), sum(pairs.counts.values())
    first, second = decided.get(("A", "A"), 0), decided.get(("B", "B"), 0)
    same = sum(decided.get(pair, 0) for pair in (("A", "B"), ("B", "A"), ("TIE", "TIE")))

    def rate(k: int) -> Number:
        return ratio(k, n, "no pair was decided in both orders")

    return PositionFlip(
        n_pairs=n_pairs,
        n_decided=n,
        n_undecided=n_pairs - n,
        flip_rate=rate(n - same),
        consistency=rate(same),
        reversal_rate=rate(first + second),
        neutralized_rate=rate(n - same - first - second),
        first_rate=rate(first),
        second_rate=rate(second),
    )


@dataclass(frozen=True, slots=True)
class FamilyGap:
    """Leniency towards the judge's own family: the difference of two rates with Newcombe's hybrid Wilson interval."""

    gap: float
    lo: float
    hi: float
    own: Proportion
    other: Proportion


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """false_pass: on human fails, share passed, own family minus the others; above 0 the judge spares its own.

    false_fail: on human passes, share failed, own minus others; below 0 means the same.
    """

    false_pass: FamilyGap | Unavailable
    false_fail: FamilyGap | Unavailable


def self_preference_gap(
    judge: Sequence[str], human: Sequence[str | None], own_family: Sequence[bool], *, conf: float = 0.95
) -> SelfPreference:
    """Is the judge kinder to drafts of its own model family than people's labels justify? (S1; S2 7.5)

    own_family[i]: was draft i written by the judge's family. A gap is unavailable when a side has no item of the class.
    """
    same_length(judge=judge, human=human, own_family=own_family)
    labels("judge", judge, MENU)
    labels("human", human, MENU, optional=True)
    for value in own_family:
        if value not in (True, False):
            raise StatsInputError("own_family", value, "must hold only True and False")
    rows = Counter(zip(judge, human, map(bool, own_family), strict=True))

    def gap(truth: str, wrong: str) -> FamilyGap | Unavailable:
        sizes = {own: sum(n for (_, h, o), n in rows.items() if h == truth and o == own) for own in (True, False)}
        wrongs = {own: rows[(wrong, truth, own)] for own in (True, False)}
        return family_gap((wrongs[True], sizes[True]), (wrongs[False], sizes[False]), conf=conf)

    return SelfPreference(gap(FAIL, PASS), gap(PASS, FAIL))


def family_gap(own: tuple[int, int], other: tuple[int, int], *, conf: float = 0.95) -> FamilyGap | Unavailable:
    """Difference of two shares (x, n), own minus other; Newcombe (1998), method 10.

    >>> g = family_gap((56, 70), (48, 80))  # Newcombe's example: 0.2, 0.0524 to 0.3339
    >>> round(g.gap, 1), round(g.lo, 4), round(g.hi, 4)
    (0.2, 0.0524, 0.3339)
    """
    sides = []
    for name, (x, n) in (("own", own), ("other", other)):
        interval = wilson(successes(name, x, count(f"{name} total", n)), n, conf=conf)
        if isinstance(interval, Unavailable):
            return Unavailable(f"{name} family: {interval.reason}")
        sides.append(interval)
    a, b = sides
    gap = a.p - b.p
    lo = gap - math.hypot(a.p - a.lo, b.hi - b.p)
    return FamilyGap(gap, lo, gap + math.hypot(a.hi - a.p, b.p - b.lo), a, b)
