"""How stable is the band's decision? Resample items within strata, as counts of patterns.

n draws from a stratum are Multinomial(n, pattern shares), so the cost depends on the number of patterns, not of items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stats.band import DEFAULT_WIDTH, METRICS, Metric, marks
from stats.checks import Floats, choice, count, open_share, real
from stats.panel import PanelCounts, Vote, panel_counts
from stats.resampling import MAX_DROPPED, percentiles
from stats.unavailable import Unavailable

TIE = 1e-12
"""Resampled margins are floats; this close to the bound is on it (the observed margin is decided in fractions)."""


@dataclass(frozen=True, slots=True)
class BandBootstrap:
    """The margin's interval, and the share of resamples inside the band, which is *not* a p-value.

    Resampling adds spread to three rater scores, so the band is wider inside the bootstrap than outside.
    n_dropped resamples had no item of the class; ``trustworthy`` is False when they are more than a tenth.
    """

    lo: float
    hi: float
    p_inside: float
    n_boot: int
    n_dropped: int

    @property
    def trustworthy(self) -> bool:
        return self.n_dropped <= MAX_DROPPED * self.n_boot


def band_bootstrap(
    judge: Sequence[str],
    panel: Sequence[Sequence[Vote]],
    *,
    rng: np.random.Generator,
    weights: Sequence[float] | None = None,
    strata: Sequence[str] | None = None,
    n_boot: int = 2000,
    metric: Metric = "specificity",
    width: float = DEFAULT_WIDTH,
    leave_one_out: bool = True,
    conf: float = 0.95,
) -> BandBootstrap | Unavailable:
    """Bootstrap of ``band_margin`` over items, within strata, weights carried along; same arguments, same meaning."""
    counts = panel_counts(judge, panel, weights=weights, strata=strata)
    return band_bootstrap_from_counts(
        counts, rng=rng, n_boot=n_boot, metric=metric, width=width, leave_one_out=leave_one_out, conf=conf
    )


def band_bootstrap_from_counts(
    counts: PanelCounts,
    *,
    rng: np.random.Generator,
    n_boot: int = 2000,
    metric: Metric = "specificity",
    width: float = DEFAULT_WIDTH,
    leave_one_out: bool = True,
    conf: float = 0.95,
    min_raters: int = 3,
) -> BandBootstrap | Unavailable:
    """The same from pattern counts. Seed the rng from (key, window, revision): a replay then gives the same bits."""
    choice("metric", metric, METRICS)
    n_boot, conf = count("n_boot", n_boot, at_least=1), open_share("conf", conf)
    width = real("width", width, at_least=0.0)
    counts.check_settled()
    if counts.n_items == 0:
        return Unavailable("no items")
    if counts.n_raters < min_raters:
        return Unavailable(f"panel: the band needs at least {min_raters} raters, not {counts.n_raters}")
    raters = counts.n_raters
    sums = np.zeros((n_boot, 3 * raters))
    for sizes, rows in _strata(counts, metric, leave_one_out):
        sums += rng.multinomial(sizes.sum(), sizes / sizes.sum(), size=n_boot) @ rows
    margins = _margins(sums, raters, width)
    interval = percentiles(margins, n_boot, conf=conf)
    if isinstance(interval, Unavailable):
        return interval
    return BandBootstrap(interval.lo, interval.hi, float((margins >= -TIE).mean()), n_boot, interval.n_dropped)


def _strata(counts: PanelCounts, metric: Metric, leave_one_out: bool) -> list[tuple[Floats, Floats]]:
    """Per stratum: how many items contribute alike, and what one such item contributes, the commonest kind last.

    numpy draws a multinomial as one binomial per kind but the last, so kinds that contribute alike are one.
    """
    kinds: dict[str, Counter[tuple[float, ...]]] = {}
    for pattern, n in counts.counts.items():
        row = tuple(pattern.weight * mark for part in marks(pattern, metric, leave_one_out) for mark in part)
        kinds.setdefault(pattern.stratum, Counter())[row] += n
    ordered = (sorted(alike.items(), key=lambda kind: (kind[1], kind[0])) for alike in kinds.values())
    return [
        (np.array([n for _, n in kinds], dtype=np.float64), np.array([row for row, _ in kinds])) for kinds in ordered
    ]


def _margins(sums: Floats, raters: int, width: float) -> Floats:
    """Margins of the resamples in which every rater's reference has an item of the class."""
    total = sums[:, :raters]
    sums, total = sums[(total > 0).all(axis=1)], total[(total > 0).all(axis=1)]
    scores, judge = sums[:, raters : 2 * raters] / total, sums[:, 2 * raters :] / total
    sd = np.sqrt(scores.var(axis=1, ddof=1))
    return np.asarray(judge.mean(axis=1) - (scores.mean(axis=1) - width * sd))
