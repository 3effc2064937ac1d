"""The one percentile rule of every bootstrap here, and what it says about resamples that had no answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stats.checks import Floats
from stats.unavailable import Unavailable

MAX_DROPPED = 0.10
"""Reports refuse an interval when more than this share of resamples was undefined: it is conditional on luck."""


@dataclass(frozen=True, slots=True)
class Percentiles:
    """The interval, and how many resamples it rests on. ``trustworthy`` says whether few enough were dropped."""

    lo: float
    hi: float
    n_used: int
    n_dropped: int

    @property
    def trustworthy(self) -> bool:
        return self.n_dropped <= MAX_DROPPED * (self.n_used + self.n_dropped)


def percentiles(values: Floats, n_boot: int, *, conf: float = 0.95) -> Percentiles | Unavailable:
    """The interval by index, int(tail k) and int((1 - tail) k) - 1 of k sorted values, as in S2 8.3.

    Interpolating quantiles differ in the third digit at 2,000 resamples, so the rule is fixed here.
    """
    k = len(values)
    if k == 0:
        return Unavailable("every resample was undefined")
    tail = (1 - conf) / 2
    ordered = np.sort(values)
    # 1 - tail is 0.9749999... in floats; without the nudge int() would fall one short at round numbers.
    low, high = int(tail * k + 1e-9), max(int((1 - tail) * k + 1e-9) - 1, 0)
    return Percentiles(float(ordered[low]), float(ordered[high]), k, n_boot - k)
