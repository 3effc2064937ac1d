"""Spec, Rec, RA- and their Score: how well the judge's labels and reasons match the people's (S2 3.2)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stats.checks import StatsInputError, count, labels, real, same_length
from stats.checks import weights as checked_weights
from stats.unavailable import Number, Unavailable, ratio
from stats.verdicts import FAIL, MENU, PASS

SCORE_WEIGHTS = (3.0, 1.0, 1.0)
NOT_COMPARED = "reasons were not compared"


@dataclass(frozen=True, slots=True)
class Confusion:
    """Items by what people said (first word) and what the judge made of it. Unweighted counts."""

    fail_caught: int
    fail_missed: int
    fail_undecided: int
    pass_refused: int
    pass_kept: int
    pass_undecided: int


@dataclass(frozen=True, slots=True)
class Alignment:
    """Spec: share of human fails that the judge fails. Rec: share of human passes that it passes.

    ra_neg: share of human fails that it fails for the same reason (denominator: all human fails).
    ra_given_agreed_fail: the same over the fails both saw. score: the weighted sum of Spec, Rec and ra_neg.
    A non-decision is in the denominator and never counts as caught or kept (labelled-run form).
    """

    spec: Number
    rec: Number
    ra_neg: Number
    ra_given_agreed_fail: Number
    score: Number
    n_fail: int
    n_pass: int
    confusion: Confusion


class AlignmentCounts(NamedTuple):
    """The mergeable form, one a weight (a stratum, say): (judge, human) counts and agreed fails of the same reason.

    Weights apply at read time, so that re-weighting needs no replay. same_reason None: reasons were not compared.
    """

    weight: float
    pairs: Mapping[tuple[str, str], int]
    same_reason: int | None = None


def alignment(
    judge: Sequence[str],
    human: Sequence[str | None],
    *,
    reason_agrees: Sequence[bool | None] | None = None,
    weights: Sequence[float] | None = None,
    score_weights: tuple[float, float, float] = SCORE_WEIGHTS,
) -> Alignment:
    """The judge against the human labels (``None``: people did not decide, the item is left out).

    reason_agrees: per item, whether the judge's reason is the people's; read only where both failed the item, and
    unavailable when it is None there. weights: inverse inclusion probabilities. A class of total weight 0 makes its
    metrics unavailable. Source: S2 3.2.

    >>> a = alignment(["fail", "fail", "pass"], ["fail", "fail", "pass"], reason_agrees=[True, False, None])
    >>> a.spec, a.rec, a.ra_neg, a.score
    (1.0, 1.0, 0.5, 4.5)
    """
    n = same_length(judge=judge, human=human)
    labels("judge", judge, MENU)
    labels("human", human, MENU, optional=True)
    agrees = _reasons(reason_agrees, n)
    pairs: dict[float, Counter[tuple[str, str]]] = {}
    same: Counter[float] = Counter()
    compared = reason_agrees is not None
    for said, truth, agree, weight in zip(judge, human, agrees, checked_weights("weights", weights, n), strict=True):
        if truth is None:
            continue
        pairs.setdefault(float(weight), Counter())[(said, truth)] += 1
        if said == truth == FAIL:
            compared = compared and agree is not None
            same[float(weight)] += bool(agree)
    parts = [AlignmentCounts(w, seen, same[w] if compared else None) for w, seen in pairs.items()]
    return alignment_from_counts(parts, score_weights=score_weights)


def alignment_from_counts(
    parts: Sequence[AlignmentCounts], *, score_weights: tuple[float, float, float] = SCORE_WEIGHTS
) -> Alignment:
    """The same from counts, one part a weight."""
    for i, part in enumerate(parts):
        real(f"parts[{i}].weight", part.weight, at_least=0.0)
        for pair, n in part.pairs.items():
            count(f"parts[{i}].pairs[{pair}]", n)
    caught, fails = _weighted(parts, FAIL, FAIL), _weighted(parts, None, FAIL)
    spec = ratio(caught, fails, "no human fail")
    rec = ratio(_weighted(parts, PASS, PASS), _weighted(parts, None, PASS), "no human pass")
    ra_neg: Number = Unavailable(NOT_COMPARED)
    ra_given: Number = Unavailable(NOT_COMPARED)
    known = [part.same_reason for part in parts]
    if None not in known:
        same = math.fsum(p.weight * count("same_reason", p.same_reason) for p in parts)
        ra_neg, ra_given = ratio(same, fails, "no human fail"), ratio(same, caught, "no agreed fail")
    total = score(spec, rec, ra_neg, score_weights=score_weights)
    return Alignment(
        spec, rec, ra_neg, ra_given, total, _n(parts, None, FAIL), _n(parts, None, PASS), _confusion(parts)
    )


def score(
    spec: Number, rec: Number, ra_neg: Number, *, score_weights: tuple[float, float, float] = SCORE_WEIGHTS
) -> Number:
    """3 Spec + Rec + RA- (weights configurable, a weight of 0 leaves the part out); 0 to 5 with the default weights."""
    total = 0.0
    for i, (weight, part) in enumerate(zip(score_weights, (spec, rec, ra_neg), strict=True)):
        if not real(f"score_weights[{i}]", weight, at_least=0.0):
            continue
        if isinstance(part, Unavailable):
            return Unavailable(f"a component is unavailable: {part.reason}")
        total += weight * part
    return total


def _reasons(reason_agrees: Sequence[bool | None] | None, n: int) -> Sequence[bool | None]:
    if reason_agrees is None:
        return [None] * n
    if len(reason_agrees) != n:
        raise StatsInputError("reason_agrees", len(reason_agrees), f"must have the length of judge, {n}")
    for value in reason_agrees:
        if value not in (True, False, None):
            raise StatsInputError("reason_agrees", value, "must hold only True, False or None")
    return reason_agrees


def _weighted(parts: Sequence[AlignmentCounts], said: str | None, truth: str) -> float:
    return math.fsum(part.weight * _n([part], said, truth) for part in parts)


def _n(parts: Sequence[AlignmentCounts], said: str | None, truth: str) -> int:
    """Items that people called ``truth`` and the judge ``said`` (None: whatever it said)."""
    return sum(n for part in parts for (j, h), n in part.pairs.items() if h == truth and said in (None, j))


def _confusion(parts: Sequence[AlignmentCounts]) -> Confusion:
    def rest(truth: str) -> int:
        return _n(parts, None, truth) - _n(parts, FAIL, truth) - _n(parts, PASS, truth)

    return Confusion(
        fail_caught=_n(parts, FAIL, FAIL),
        fail_missed=_n(parts, PASS, FAIL),
        fail_undecided=rest(FAIL),
        pass_refused=_n(parts, FAIL, PASS),
        pass_kept=_n(parts, PASS, PASS),
        pass_undecided=rest(PASS),
    )
