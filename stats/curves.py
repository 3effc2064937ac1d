"""What the pass-rate curve says about items that no retry fixes (S2 4.2 d): three models, least squares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stats.checks import Floats, Ints, StatsInputError, count, open_share, same_length, share
from stats.resampling import Percentiles, percentiles
from stats.unavailable import Number, Unavailable

GRID = np.arange(1, 1000) / 1000.0
"""Candidate per-attempt pass rates."""


@dataclass(frozen=True, slots=True)
class CurveFits:
    """Cumulative pass rate after K retries under three models, each with its sum of squared errors.

    one_rate: 1 - (1 - q)^(K+1). two_populations: a share ``unfixable`` never passes, the rest at rate q. beta: each
    item has its own rate, Beta(a, b). A flat tail fits the last two alike: it shows that fixability differs from item
    to item, not that a strictly unfixable group exists.
    """

    one_rate: float
    one_rate_sse: float
    q: float
    unfixable: float
    two_populations_sse: float
    beta_a: float
    beta_b: float
    beta_sse: float

    @property
    def sse_ratio(self) -> Number:
        """How many times better two populations fit than one rate (S2: 11 to 57)."""
        if self.two_populations_sse == 0:
            return Unavailable("two populations fit without any error")
        return self.one_rate_sse / self.two_populations_sse


def fit_pass_curve(retries: Sequence[int], pass_rates: Sequence[float]) -> CurveFits | Unavailable:
    """Fit the three models to cumulative pass rates at these numbers of retries; unavailable below three points.

    >>> fits = fit_pass_curve([0, 1, 2, 3, 4, 6, 12], [0.30, 0.50, 0.62, 0.68, 0.72, 0.76, 0.81])  # S2 4.2, model 1
    >>> round(fits.unfixable, 2)
    0.2
    """
    drafts, rates = _points(retries, pass_rates)
    if len(drafts) < 3:
        return Unavailable("fewer than three points")
    one = ((1 - (1 - GRID[:, None]) ** drafts - rates) ** 2).sum(axis=1)
    q, ceiling, sse = _two_populations(drafts, rates[None, :])
    a, b, beta_sse = _beta(drafts, rates)
    best = int(one.argmin())
    return CurveFits(
        float(GRID[best]), float(one[best]), float(q[0]), 1 - float(ceiling[0]), float(sse[0]), a, b, beta_sse
    )


def unfixable_interval(
    retries: Sequence[int],
    pass_rates: Sequence[float],
    *,
    n_items: int,
    rng: np.random.Generator,
    n_boot: int = 1000,
    conf: float = 0.95,
) -> Percentiles | Unavailable:
    """Interval of the unfixable share: redraw ``n_items`` items from the observed curve and fit again.

    It covers sampling of items, not the choice of the model.
    """
    drafts, rates = _points(retries, pass_rates)
    n_items, n_boot = count("n_items", n_items, at_least=1), count("n_boot", n_boot, at_least=1)
    if len(drafts) < 3:
        return Unavailable("fewer than three points")
    steps = np.diff(rates, prepend=0.0)
    if (steps < -1e-12).any():
        raise StatsInputError("pass_rates", list(pass_rates), "must not fall: they are cumulative")
    shares = np.clip(np.append(steps, 1 - rates[-1]), 0.0, 1.0)
    drawn: Ints = rng.multinomial(n_items, shares / shares.sum(), size=n_boot)
    curves = np.cumsum(drawn[:, :-1], axis=1) / n_items
    _, ceiling, _ = _two_populations(drafts, curves)
    return percentiles(1 - ceiling, n_boot, conf=open_share("conf", conf))


def _points(retries: Sequence[int], pass_rates: Sequence[float]) -> tuple[Floats, Floats]:
    same_length(retries=retries, pass_rates=pass_rates)
    drafts = np.array([count(f"retries[{i}]", k) + 1 for i, k in enumerate(retries)], dtype=np.float64)
    if (np.diff(drafts) <= 0).any():
        raise StatsInputError("retries", list(retries), "must rise")
    return drafts, np.array([share(f"pass_rates[{i}]", p) for i, p in enumerate(pass_rates)])


def _two_populations(drafts: Floats, curves: Floats) -> tuple[Floats, Floats, Floats]:
    """(q, ceiling, sse) per curve: for each q the best ceiling is a regression through the origin, capped at 1."""
    shapes = 1 - (1 - GRID[:, None]) ** drafts
    ceilings = np.clip(curves @ shapes.T / (shapes**2).sum(axis=1), 0.0, 1.0)
    sse = (
        (curves**2).sum(axis=1)[:, None]
        - 2 * ceilings * (curves @ shapes.T)
        + ceilings**2 * (shapes**2).sum(axis=1)[None, :]
    )
    best = sse.argmin(axis=1)
    rows = np.arange(len(curves))
    return GRID[best], ceilings[rows, best], np.maximum(sse[rows, best], 0.0)


def _beta(drafts: Floats, rates: Floats) -> tuple[float, float, float]:
    """Beta-distributed pass rates: P(pass within n drafts) = 1 - B(a, b + n) / B(a, b), fitted over log a, log b."""
    from scipy.optimize import minimize
    from scipy.special import betaln

    def sse(logs: Floats) -> float:
        a, b = np.exp(np.clip(logs, -12, 12))
        return float(((1 - np.exp(betaln(a, b + drafts) - betaln(a, b)) - rates) ** 2).sum())

    found = min(
        (minimize(sse, start, method="Nelder-Mead") for start in ([0.0, 0.0], [-1.0, 0.0], [1.0, 2.0])),
        key=lambda fit: float(fit.fun),
    )
    a, b = np.exp(found.x)
    return float(a), float(b), float(found.fun)
