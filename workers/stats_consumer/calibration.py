"""Is the judge as often right as it is sure? Its label probabilities against what people say (S1, Guo 2017)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from schemas.reports import Figure, Health
from stats.calibration import ece, ece_null
from stats.unavailable import Unavailable
from workers.stats_consumer.cells import CALIBRATION
from workers.stats_consumer.figure import value
from workers.stats_consumer.week import Week

BINS = 15
_SIMULATED = 500


def calibration_figures(week: Week) -> Iterator[Figure]:
    """Per criterion the expected calibration error, and what a perfectly calibrated judge stays under (95 %).

    The error is biased upward, so it says something only above that second number.
    """
    for criterion in week.criteria():
        said, right = stated(week, criterion)
        scope, of = {"criterion": criterion}, f"labelled verdicts of known probability, {BINS} bins"
        read = ece(said, right, n_bins=BINS)
        if isinstance(read, Unavailable):
            missing = Unavailable(
                "labelled verdicts whose label probability is known: bindings ask with `logprobs: true`"
            )
            yield value(Health.JUDGE, "calibration_error", missing, scope=scope)
            continue
        chance = ece_null(said, rng=np.random.default_rng(week.pane), n_bins=BINS, n_sim=_SIMULATED)
        yield value(Health.JUDGE, "calibration_error", read.ece, of=of, n=read.n, scope=scope)
        yield value(Health.JUDGE, "calibration_error_by_chance", chance, of=of, n=read.n, scope=scope)


def stated(week: Week, criterion: str) -> tuple[list[float], list[bool]]:
    """(how sure, was it right) of every labelled verdict, in a fixed order; probabilities in thousandths."""
    said: list[float] = []
    right: list[bool] = []
    for cell, n in sorted(week.cells(CALIBRATION).items()):
        of, thousandths, word = cell.rsplit("|", 2)
        if of == criterion:
            said += [int(thousandths) / 1000] * n
            right += [word == "right"] * n
    return said, right
