"""The drift rule: is the judge no worse than the raters are against each other? (S2 5.2, 6.4, 8.3)"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from typing import Literal, NamedTuple

from stats.checks import StatsInputError, choice, count, real, share
from stats.panel import PanelCounts, Pattern, Vote, exact, majority, panel_counts
from stats.unavailable import Unavailable
from stats.verdicts import FAIL, PASS

Metric = Literal["specificity", "recall", "reasoning_agreement"]
METRICS: tuple[Metric, ...] = ("specificity", "recall", "reasoning_agreement")
"""For reasoning agreement the votes of fails are their reasons; a fail without one stays ``fail`` (S2 3.2, 8.3)."""
DEFAULT_WIDTH = 3.37
UNDEFINED = "a metric of the band is undefined: no item of its class"


@dataclass(frozen=True, slots=True)
class Band:
    """margin = judge - lower, lower = rater_mean - width x rater_sd; inside is margin >= 0, decided exactly.

    judge_scores[i] and rater_scores[i] are against the same reference, the one rater i is scored against.
    """

    margin: float
    inside: bool
    judge: float
    rater_mean: float
    rater_sd: float
    lower: float
    judge_scores: tuple[float, ...]
    rater_scores: tuple[float, ...]


def band_margin(
    judge: Sequence[str],
    panel: Sequence[Sequence[Vote]],
    *,
    weights: Sequence[float] | None = None,
    metric: Metric = "specificity",
    width: float = DEFAULT_WIDTH,
    leave_one_out: bool = True,
    ddof: int = 1,
    min_raters: int = 3,
) -> Band | Unavailable:
    """How far the judge's metric lies above the raters' band; below 0 is outside it.

    judge (items,) and panel (raters, items) hold pass and fail; the judge may abstain, which is never a catch; a
    rater's None is a missing label. Each rater, and the judge, is scored against the majority of the other raters
    (``leave_one_out``) or of the whole panel (Eq. (5) read literally, which is biased against the judge). Ties leave
    the item out. Unavailable with fewer than ``min_raters`` raters or when any score is undefined. The panel must be
    fixed: with a rotating pool each rater's score rests on few items and the band is too wide to mean anything.
    """
    counts = panel_counts(judge, panel, weights=weights)
    if len(panel) < min_raters:
        return Unavailable(f"panel: the band needs at least {min_raters} raters, not {len(panel)}")
    return band_from_counts(counts, metric=metric, width=width, leave_one_out=leave_one_out, ddof=ddof)


def band_from_counts(
    counts: PanelCounts,
    *,
    metric: Metric = "specificity",
    width: float = DEFAULT_WIDTH,
    leave_one_out: bool = True,
    ddof: int = 1,
    min_raters: int = 3,
) -> Band | Unavailable:
    """The same from pattern counts, however many items they stand for."""
    counts.check_settled()
    if counts.n_items and counts.n_raters < min_raters:
        return Unavailable(f"panel: the band needs at least {min_raters} raters, not {counts.n_raters}")
    choice("metric", metric, METRICS)
    scores = _scores(counts, metric, leave_one_out)
    if not scores or any(score is None for score in scores):
        return Unavailable(UNDEFINED)
    judges, raters = zip(*(score for score in scores if score is not None), strict=True)
    return _band(judges, raters, width, ddof)


def band_from_scores(
    judge_score: float, rater_scores: Sequence[float], *, width: float = 2.0, ddof: int = 1
) -> Band | Unavailable:
    """Eq. (5) when the metrics are already known; unavailable with a single rater.

    ddof 1 is the sample standard deviation. numpy's default, 0, narrows the band and flips decisions.

    >>> [band_from_scores(j, [0.92, 0.88, 0.90]).inside for j in (0.86, 0.85)]
    [True, False]
    >>> round(band_from_scores(0.86, [0.92, 0.88, 0.90], ddof=0).lower, 3)
    0.867
    """
    raters = [exact(share(f"rater_scores[{i}]", s)) for i, s in enumerate(rater_scores)]
    judge = exact(share("judge_score", judge_score))
    if len(raters) < 2:
        return Unavailable("a spread needs at least two raters")
    return _band([judge] * len(raters), raters, width, ddof)


class Marks(NamedTuple):
    """What one pattern contributes, per rater: is it in the denominator, did the rater hit, did the judge hit."""

    counted: tuple[bool, ...]
    rater_hit: tuple[bool, ...]
    judge_hit: tuple[bool, ...]


def marks(pattern: Pattern, metric: Metric, leave_one_out: bool) -> Marks:
    """Against each rater's reference: is the item of the metric's class, and who says what the reference says."""
    return _marks(pattern.judge, pattern.votes, metric, leave_one_out)


@lru_cache(4096)  # a week has a handful of patterns, under many weights
def _marks(judge: str, votes: tuple[Vote, ...], metric: Metric, leave_one_out: bool) -> Marks:
    counted, rater_hit, judge_hit = [], [], []
    for i, vote in enumerate(votes):
        others = votes[:i] + votes[i + 1 :] if leave_one_out else votes
        reference = majority(others)
        inside = vote is not None and _of_class(reference, metric)
        counted.append(inside)
        rater_hit.append(inside and vote == reference)
        judge_hit.append(inside and judge == reference)
    return Marks(tuple(counted), tuple(rater_hit), tuple(judge_hit))


def _of_class(reference: Vote, metric: Metric) -> bool:
    match metric:
        case "specificity":
            return reference == FAIL
        case "recall":
            return reference == PASS
        case "reasoning_agreement":
            return reference not in (None, PASS, FAIL)


def _scores(counts: PanelCounts, metric: Metric, leave_one_out: bool) -> list[tuple[Fraction, Fraction] | None]:
    """(judge, rater) score per rater as exact fractions; None where the denominator is 0."""
    raters = counts.n_raters
    by_weight: dict[float, list[int]] = {}
    for pattern, n in counts.counts.items():
        sums = by_weight.setdefault(pattern.weight, [0] * (3 * raters))
        for at, mark in enumerate(chain(*marks(pattern, metric, leave_one_out))):
            sums[at] += n * mark
    weighted = [(exact(weight), sums) for weight, sums in by_weight.items()]
    total, rater, judge = (
        [sum((w * sums[part * raters + i] for w, sums in weighted), Fraction(0)) for i in range(raters)]
        for part in range(3)
    )
    return [(judge[i] / total[i], rater[i] / total[i]) if total[i] else None for i in range(raters)]


def _band(judges: Sequence[Fraction], raters: Sequence[Fraction], width: float, ddof: int) -> Band:
    width = real("width", width, at_least=0.0)
    n = len(raters)
    if count("ddof", ddof) >= n:
        raise StatsInputError("ddof", ddof, f"must be smaller than the number of raters, {n}")
    judge, mean = sum(judges, Fraction(0)) / n, sum(raters, Fraction(0)) / n
    variance = sum(((r - mean) ** 2 for r in raters), Fraction(0)) / (n - ddof)
    # Equally spaced scores often lie exactly on the bound, where floats are off by 1e-16 and raise a false alarm.
    gap, reach = mean - judge, exact(width) ** 2 * variance
    inside, on_bound = gap <= 0 or gap**2 <= reach, gap >= 0 and gap**2 == reach
    sd = math.sqrt(variance)
    margin = 0.0 if on_bound else float(-gap) + width * sd
    margin = max(margin, 0.0) if inside else min(margin, -math.ulp(0.0))
    return Band(
        margin,
        inside,
        float(judge),
        float(mean),
        sd,
        float(mean) - width * sd,
        tuple(map(float, judges)),
        tuple(map(float, raters)),
    )
