"""One bad week is noise, a run of them is drift: consecutive weeks and CUSUM (S2 6.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stats.checks import StatsInputError, count, real
from stats.unavailable import Unavailable


@dataclass(frozen=True, slots=True)
class Run:
    """How many weeks in a row were below, so far. Fold closed weeks in order; keep one after each week."""

    length: int = 0

    def after(self, below: bool | None) -> Run:
        """None is a week without an answer: it neither breaks the run nor adds to it."""
        return self if below is None else Run(self.length + 1 if below else 0)


def persistence_alerts(below: Sequence[bool | None], *, consecutive: int = 2) -> list[bool]:
    """Per week: is this the ``consecutive``-th week (or a later one) below the band in a row?

    >>> persistence_alerts([True, True, False, True, None, True, True])
    [False, True, False, False, False, True, True]
    """
    consecutive = count("consecutive", consecutive, at_least=1)
    alerts, run = [], Run()
    for week in below:
        if week not in (True, False, None):
            raise StatsInputError("below", week, "must hold only True, False or None")
        run = run.after(week)
        alerts.append(bool(week) and run.length >= consecutive)
    return alerts


@dataclass(frozen=True, slots=True)
class Cusum:
    """path[t] is S after week t; first_alarm is the first week with S above h, or None."""

    path: tuple[float, ...]
    first_alarm: int | None


def cusum_step(s: float, x: float | None, *, target: float, k: float, sigma: float) -> float:
    """S after one more week: max(0, S + (target - x) / sigma - k); unchanged by a week without an answer."""
    return s if x is None else max(0.0, s + (target - x) / sigma - k)


def cusum_lower(
    x: Sequence[float | None],
    *,
    target: float = 0.0,
    k: float = 0.5,
    h: float = 5.0,
    sigma: float = 1.0,
    s0: float = 0.0,
) -> Cusum:
    """A lower CUSUM: adds up how far a weekly metric stays below its target, in units of sigma. Alarm at S > h.

    k is the slack (half the shift to catch), h the limit. ``cusum_arl`` says what they cost.
    """
    sigma, k, h = real("sigma", sigma, above=0.0), real("k", k, at_least=0.0), real("h", h, above=0.0)
    s, target = real("s0", s0, at_least=0.0), real("target", target)
    path = []
    for i, value in enumerate(x):
        observed = None if value is None else real(f"x[{i}]", value)
        s = cusum_step(s, observed, target=target, k=k, sigma=sigma)
        path.append(s)
    return Cusum(tuple(path), next((t for t, level in enumerate(path) if level > h), None))


def cusum_arl(
    k: float = 0.5, h: float = 5.0, *, shift: float = 0.0, two_sided: bool = False, states: int = 400
) -> float | Unavailable:
    """Average number of weeks until a CUSUM of normal values alarms, shifted by ``shift`` sigmas towards the alarm.

    Brook & Evans' Markov chain (1972) with this many states. At shift 0 it is the time between false alarms.
    Unavailable when it is too long to compute in floats.

    >>> round(cusum_arl(0.5, 4.0, shift=1.0), 1)  # Montgomery, table 9.4
    8.4
    """
    k, h, shift = real("k", k, at_least=0.0), real("h", h, above=0.0), real("shift", shift)
    states = count("states", states, at_least=10)
    up = _one_sided_arl(k, h, shift, states)
    if not two_sided or isinstance(up, Unavailable):
        return up
    down = _one_sided_arl(k, h, -shift, states)
    return up if isinstance(down, Unavailable) else 1 / (1 / up + 1 / down)


def _one_sided_arl(k: float, h: float, shift: float, states: int) -> float | Unavailable:
    from scipy.special import ndtr

    width = 2 * h / (2 * states - 1)
    centres = np.arange(states) * width
    upper = ndtr(centres[None, :] + width / 2 - centres[:, None] - shift + k)
    lower = ndtr(centres[None, :] - width / 2 - centres[:, None] - shift + k)
    lower[:, 0] = 0.0  # everything below slides back to S = 0
    runs = np.linalg.solve(np.eye(states) - (upper - lower), np.ones(states))
    arl = float(runs[0])
    if not 1 <= arl < 1e12:
        return Unavailable("the run length is beyond what floats can tell apart from never")
    return arl
