"""The weekly band check of one judge, metric and slice: is the judge no worse than the raters are? (S2 5.2, 6.4)"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from schemas.reports import Figure, Health
from stats.band import METRICS, Band, Metric, band_from_counts
from stats.band_bootstrap import BandBootstrap, band_bootstrap_from_counts
from stats.panel import PanelCounts, Pattern
from stats.unavailable import Unavailable
from stats.verdicts import FAIL, PASS
from workers.stats_consumer.agreement import Panel, gold_of, same_reasons
from workers.stats_consumer.cells import PANEL
from workers.stats_consumer.figure import value
from workers.stats_consumer.rules import Rules
from workers.stats_consumer.week import Week
from workers.stats_consumer.weeks import week_name

ROTATING = "rotating panel"


@dataclass(frozen=True, slots=True)
class BandCheck:
    """``below``: None where there is no band. ``raters`` are those whose spread is the yardstick.

    ``literal``: Eq. (5) as it is printed, against the whole panel and at two standard deviations. It is biased against
    the judge and cries wolf in most weeks (S2 6.4), so it is shown and decides nothing.
    """

    criterion: str
    metric: Metric
    slice: str
    below: bool | None
    band: Band | Unavailable
    bootstrap: BandBootstrap | Unavailable
    literal: Band | Unavailable
    raters: tuple[str, ...] = ()

    @property
    def scope(self) -> dict[str, str]:
        return {"criterion": self.criterion, "slice": self.slice, "metric": self.metric}


def band_checks(week: Week, rules: Rules) -> list[BandCheck]:
    """Every criterion, metric and slice of one week."""
    return [
        _check(week, criterion, metric, slice_, rules)
        for criterion in week.criteria()
        for slice_ in week.slices(PANEL + criterion) or ["all"]
        for metric in METRICS
    ]


def fixed_panel(panel: Panel, rules: Rules) -> tuple[str, ...] | Unavailable:
    """The raters who rated (nearly) everything together, or why there are none."""
    together: Counter[tuple[str, ...]] = Counter()
    for _, item, n in panel:
        if len(item.votes) >= 3:
            together[tuple(rater for rater, _ in item.votes)] += n
    rated = together.total()
    if not rated:
        return Unavailable("no item has three raters yet")
    raters, n = max(together.items(), key=lambda one: (one[1], one[0]))
    if n >= rules.fixed_share * rated:
        return raters
    pool, most = len({rater for names in together for rater in names}), max(map(len, together))
    return Unavailable(f"{ROTATING}: {pool} raters, at most {most} an item; each rater's score rests on few items")


def band_figures(checks: list[BandCheck]) -> Iterator[Figure]:
    for check in checks:
        margin = check.band if isinstance(check.band, Unavailable) else check.band.margin
        booted = check.bootstrap
        lo, hi = (None, None) if isinstance(booted, Unavailable) else (booted.lo, booted.hi)
        yield value(
            Health.JUDGE, "band_margin", margin, of="judge minus the band's edge", lo=lo, hi=hi, scope=check.scope
        )
        literal = check.literal if isinstance(check.literal, Unavailable) else check.literal.margin
        yield value(Health.JUDGE, "band_margin_literal", literal, of="Eq. (5) as printed; no alert", scope=check.scope)
        share = booted if isinstance(booted, Unavailable) else booted.p_inside
        yield value(Health.JUDGE, "band_inside_share", share, of="resamples; no p-value", scope=check.scope)


def _check(week: Week, criterion: str, metric: Metric, slice_: str, rules: Rules) -> BandCheck:
    panel = week.panel(criterion, slice_)
    raters = fixed_panel(panel, rules)
    if isinstance(raters, Unavailable):
        return BandCheck(criterion, metric, slice_, None, raters, raters, raters)
    missing = _missing(panel, metric, rules)
    if missing is not None:
        return BandCheck(criterion, metric, slice_, None, missing, missing, missing, raters)
    counts = _counts(panel, raters, reasons=metric == "reasoning_agreement")
    band = band_from_counts(counts, metric=metric, width=rules.width)
    literal = band_from_counts(counts, metric=metric, width=2.0, leave_one_out=False)
    rng = _rng(week, criterion, metric, slice_)
    booted = band_bootstrap_from_counts(counts, rng=rng, metric=metric, width=rules.width, n_boot=rules.resamples)
    if not isinstance(booted, Unavailable) and not booted.trustworthy:
        booted = Unavailable(f"{booted.n_dropped} of {booted.n_boot} resamples had no item of the class")
    below = None if isinstance(booted, Unavailable) else booted.p_inside < rules.inside_share
    return BandCheck(criterion, metric, slice_, below, band, booted, literal, raters)


def _missing(panel: Panel, metric: Metric, rules: Rules) -> Unavailable | None:
    if metric == "reasoning_agreement":
        n, wanted = same_reasons(panel)[1], "fail for a clause they name"
    else:
        wanted = PASS if metric == "recall" else FAIL
        n = sum(times for _, item, times in panel if gold_of(item) == wanted)
    return (
        None if n >= rules.min_class else Unavailable(f"{rules.min_class - n} more labelled items that people {wanted}")
    )


def _counts(panel: Panel, raters: tuple[str, ...], *, reasons: bool) -> PanelCounts:
    """Votes as patterns; with ``reasons`` a fail is told by its clause where one was named."""
    counts = PanelCounts()
    for stratum, item, n in panel:
        judge, votes = item.judge, dict(item.votes)
        if reasons and item.reasons:
            votes |= dict(item.reasons.raters)
            judge = item.reasons.judge or judge
        counts.add(Pattern(stratum, item.weight, judge, tuple(votes.get(rater) for rater in raters)), n)
    return counts


def _rng(week: Week, *scope: str) -> np.random.Generator:
    """Seeded by what is checked: the same counts give the same answer on every machine."""
    digest = sha256("|".join((week.bom_version, week_name(week.pane), *scope)).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))
