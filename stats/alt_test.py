"""May the judge replace a rater? The alternative annotator test (Calderon, Reichart & Dror, ACL 2025)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from stats.checks import StatsInputError, choice, count, open_labels, real, share
from stats.distributions import t_cdf
from stats.significance import Fdr, fdr_reject
from stats.unavailable import Unavailable

Scoring = Literal["accuracy", "neg_rmse"]
Labels = Mapping[Hashable, Any]


@dataclass(frozen=True, slots=True)
class RaterMoments:
    """One rater's comparison with the judge over n items: the mergeable form of the test.

    mean_d, sd_d: of d = (rater at least as good) - (judge at least as good), each item in {-1, 0, 1}.
    advantage: share of items where the judge was at least as close to the other raters as this rater.
    """

    rater: str
    n: int
    mean_d: float
    sd_d: float
    advantage: float


@dataclass(frozen=True, slots=True)
class AltTest:
    """omega: share of raters the judge may replace; passes at 0.5. advantage: mean advantage probability."""

    omega: float
    advantage: float
    passes: bool
    raters: tuple[str, ...]
    p_values: tuple[float | None, ...]
    skipped: tuple[str, ...]


def alt_test(
    judge: Labels,
    humans: Mapping[str, Labels],
    *,
    epsilon: float = 0.2,
    q: float = 0.05,
    method: Fdr = "by",
    scoring: Scoring = "accuracy",
    min_instances: int = 30,
    min_humans: int = 2,
) -> AltTest | Unavailable:
    """Judge and humans: item -> label, per rater. A ``None`` label is missing.

    Each label is scored against the *other* raters' labels: share equal (``accuracy``) or minus the root mean squared
    difference (``neg_rmse``). epsilon is the advantage granted to a person for being one (their cost). Raters with
    fewer than ``min_instances`` items are skipped; unavailable when none is left. FDR: Benjamini-Yekutieli unless told.
    """
    choice("scoring", scoring, ("accuracy", "neg_rmse"))
    min_instances, min_humans = count("min_instances", min_instances, at_least=1), count("min_humans", min_humans)
    _check(judge, humans, scoring)
    compared: list[RaterMoments] = []
    skipped: list[str] = []
    for rater in humans:
        d = _differences(rater, judge, humans, scoring, min_humans)
        if len(d) < min_instances:
            skipped.append(rater)
        else:
            compared.append(_moments(rater, d))
    return alt_test_from_moments(compared, epsilon=epsilon, q=q, method=method, skipped=skipped)


def alt_test_from_moments(
    raters: Sequence[RaterMoments],
    *,
    epsilon: float,
    q: float = 0.05,
    method: Fdr = "by",
    skipped: Sequence[str] = (),
) -> AltTest | Unavailable:
    """The test from per-rater moments; unavailable without a rater."""
    epsilon = real("epsilon", epsilon)
    if not raters:
        return Unavailable("no rater has enough instances")
    p_values = tuple(_p_value(r, epsilon) for r in raters)
    omega = sum(fdr_reject(p_values, q=q, method=method)) / len(raters)
    advantage = sum(share("advantage", r.advantage) for r in raters) / len(raters)
    return AltTest(omega, advantage, omega >= 0.5, tuple(r.rater for r in raters), p_values, tuple(skipped))


def _check(judge: Labels, humans: Mapping[str, Labels], scoring: Scoring) -> None:
    for name, column in (("judge", judge), *((f"humans[{rater}]", said) for rater, said in humans.items())):
        open_labels(name, column.values())
        for label in column.values():
            if scoring == "neg_rmse" and label is not None:
                real(name, label)


def _differences(
    rater: str, judge: Labels, humans: Mapping[str, Labels], scoring: Scoring, min_humans: int
) -> list[tuple[int, int]]:
    """(judge at least as good, rater at least as good) per item labelled by the judge, this rater and others."""
    out = []
    for item, label in humans[rater].items():
        others = [said[item] for name, said in humans.items() if name != rater and said.get(item) is not None]
        machine = judge.get(item)
        if label is None or machine is None or not others or len(others) + 1 < min_humans:
            continue
        theirs, mine = _distance(machine, others, scoring), _distance(label, others, scoring)
        out.append((int(theirs <= mine), int(mine <= theirs)))
    return out


def _distance(label: Any, others: Sequence[Any], scoring: Scoring) -> float:
    # Both scores are compared only with each other, so counts and squares do: no rounding makes a false tie.
    if scoring == "accuracy":
        return float(sum(bool(label != other) for other in others))
    return math.fsum((float(label) - float(other)) ** 2 for other in others)


def _moments(rater: str, wins: Sequence[tuple[int, int]]) -> RaterMoments:
    n, d = len(wins), [human - machine for machine, human in wins]
    total, squares = sum(d), sum(x * x for x in d)
    variance = (n * squares - total * total) / (n * (n - 1)) if n > 1 else 0.0
    return RaterMoments(rater, n, total / n, math.sqrt(variance), sum(machine for machine, _ in wins) / n)


def _p_value(rater: RaterMoments, epsilon: float) -> float | None:
    n = count("n", rater.n, at_least=1)
    gap = real("mean_d", rater.mean_d) - epsilon
    sd = real("sd_d", rater.sd_d, at_least=0.0)
    if sd == 0.0:
        return None if gap == 0.0 else float(gap > 0.0)
    if n < 2:
        raise StatsInputError("n", n, "must be at least 2 where sd_d is above 0")
    return t_cdf(gap / (sd / math.sqrt(n)), n - 1)
