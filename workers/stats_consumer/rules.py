"""The limits of the checks. None can change a verdict. What they cost in false alarms: docs/runbook.md."""

from __future__ import annotations

from typing import NamedTuple


class Rules(NamedTuple):
    """Band: below when fewer than ``inside_share`` of the bootstrap's margins at ``width`` are inside the band.

    2.0 and 0.5 cry wolf in 4 % of checks and catch a judge of accuracy 0.75 among raters of 0.87 in 68 % of weeks.
    ``weeks`` in a row make it drift. A rate has changed when it moved by ``least_change`` at the 1 % level.
    """

    width: float = 2.0
    inside_share: float = 0.5
    resamples: int = 2000
    weeks: int = 2
    min_class: int = 10  # labelled items of a class below which there is no band
    fixed_share: float = 0.8  # of the items rated by one panel, for it to be fixed
    least_change: float = 0.03
    baseline_weeks: int = 4
    min_coverage: float = 0.95
    max_restarts: float = 0.05
    max_abandoned: float = 0.02
    max_cache_down: float = 0.01
    rater_drop: float = 0.10
    pooled_weeks: int = 4
    canary_days: int = 7
    min_pairs: int = 30


DEFAULT_RULES = Rules()
