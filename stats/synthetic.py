"""The synthetic week of S2 8.3: everybody answers right independently; how often does the rule cry wolf?"""

from __future__ import annotations

import random
from collections.abc import Sequence

from stats.band import Band, Metric, band_from_counts
from stats.checks import StatsInputError, count, share
from stats.panel import panel_counts
from stats.unavailable import Number, Unavailable
from stats.verdicts import FAIL, PASS

RATER_ACCURACY = (0.87, 0.87, 0.87)


def synthetic_week(
    *,
    n: int = 300,
    prevalence: float = 0.4,
    rater_acc: Sequence[float] = RATER_ACCURACY,
    judge_acc: float = 0.87,
    seed: int = 0,
) -> tuple[list[str], list[list[str]]]:
    """(judge labels, panel labels) of one week; every label is right with its author's accuracy, independently.

    The draws come in one fixed order, truth, the raters in turn, the judge, so that a seed means the same week
    everywhere. Source: S2 6.4, 8.3.
    """
    n, prevalence, judge_acc = count("n", n), share("prevalence", prevalence), share("judge_acc", judge_acc)
    accuracies = [share(f"rater_acc[{i}]", acc) for i, acc in enumerate(rater_acc)]
    rng = random.Random(count("seed", seed))
    truth = [FAIL if rng.random() < prevalence else PASS for _ in range(n)]

    def answers(accuracy: float) -> list[str]:
        wrong = {FAIL: PASS, PASS: FAIL}
        return [label if rng.random() < accuracy else wrong[label] for label in truth]

    panel = [answers(accuracy) for accuracy in accuracies]
    return answers(judge_acc), panel


def false_alarm_rate(
    *,
    seed_from: int = 0,
    seed_to: int = 300,
    leave_one_out: bool = True,
    width: float = 2.0,
    metric: Metric = "specificity",
    n: int = 300,
    prevalence: float = 0.4,
    rater_acc: Sequence[float] = RATER_ACCURACY,
    judge_acc: float = 0.87,
) -> Number:
    """Share of synthetic weeks, one a seed, in which the judge is outside the band; weeks without a band are left out.

    With a judge as good as the raters this is the false-alarm rate, with a worse one the power.

    >>> round(false_alarm_rate(width=2.0), 2)
    0.12
    """
    if len(rater_acc) < 3:
        raise StatsInputError("rater_acc", rater_acc, "must hold at least 3 raters")
    outside: list[bool] = []
    for seed in range(count("seed_from", seed_from), count("seed_to", seed_to)):
        judge, panel = synthetic_week(n=n, prevalence=prevalence, rater_acc=rater_acc, judge_acc=judge_acc, seed=seed)
        band = band_from_counts(panel_counts(judge, panel), metric=metric, width=width, leave_one_out=leave_one_out)
        if isinstance(band, Band):
            outside.append(not band.inside)
    return sum(outside) / len(outside) if outside else Unavailable("no week had a band")
