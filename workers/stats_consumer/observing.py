"""From weeks of counts to what the diagnosis looks at: has the pass rate moved, and does the judge still agree?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from stats.cells import EVERYTHING
from stats.change import Change, rate_change
from stats.persistence import Run
from stats.unavailable import Unavailable
from workers.stats_consumer.agreement import Confusion, confusion
from workers.stats_consumer.band_check import BandCheck, band_checks
from workers.stats_consumer.diagnosis import Agreement, Observed
from workers.stats_consumer.rules import Rules
from workers.stats_consumer.week import Week, pooled

NO_BASELINE = "no earlier week under this BOM version to compare with"
_OF_LABELS = ("specificity", "recall")
"""What moves the pass rate. Reasons that differ do not: see ``reasons_below``."""
Counted = Callable[[Week], tuple[int, int]]


class Series:
    """Closed weeks of one BOM version in order, the last one being looked at."""

    def __init__(self, weeks: Mapping[int, Week], pane: int, rules: Rules) -> None:
        self.week = weeks[pane]
        self._rules = rules
        first = pane - rules.weeks - rules.baseline_weeks + 1
        baseline = [weeks[p] for p in range(first, pane - rules.weeks + 1) if p in weeks]
        # A young series has only what lies directly before this week.
        self.baseline: Sequence[Week] = baseline or [weeks[p] for p in range(first, pane) if p in weeks]
        run = [weeks[p] for p in range(pane - 2 * rules.weeks + 1, pane + 1) if p in weeks]
        self._checks = [band_checks(week, rules) for week in run]

    @property
    def checks(self) -> list[BandCheck]:
        return self._checks[-1]

    def change(self, counted: Counted) -> Change | Unavailable:
        if not self.baseline:
            return Unavailable(NO_BASELINE)
        before = pooled(counted(week) for week in self.baseline)
        return rate_change(counted(self.week), before, least=self._rules.least_change)

    def observed(self, criterion: str) -> Observed:
        """One criterion of the week that is looked at."""
        now, before = self.week.first_passes(criterion), pooled(w.first_passes(criterion) for w in self.baseline)
        evidence: dict[str, float | str | None] = {
            "pass_rate": now[0] / now[1] if now[1] else None,
            "pass_rate_before": before[0] / before[1] if before[1] else None,
            **{f"{c.metric}_inside_share:{c.slice}": _share(c) for c in self.checks if c.criterion == criterion},
        }
        band, compared = self._agreement(criterion), self._compared(criterion)
        evidence |= {"band": str(band), "against_earlier_weeks": str(compared)}
        moved = self.change(lambda w: w.first_passes(criterion))
        return Observed(criterion, moved, _worse(band, compared), self._lasting(criterion), evidence)

    def _agreement(self, criterion: str) -> Agreement:
        known = [c for c in self.checks if c.criterion == criterion and c.metric in _OF_LABELS and c.below is not None]
        return _state({c.metric for c in known if c.below}) if known else Agreement.UNKNOWN

    def _lasting(self, criterion: str) -> Agreement:
        """Metrics that have been below in some slice for ``weeks`` weeks in a row; one without a band breaks no run."""
        runs: dict[tuple[str, str], Run] = {}
        for checks in self._checks:
            for c in checks:
                if c.criterion == criterion and c.metric in _OF_LABELS:
                    runs[c.metric, c.slice] = runs.get((c.metric, c.slice), Run()).after(c.below)
        now: dict[tuple[str, str], bool | None] = {
            (c.metric, c.slice): c.below for c in self.checks if c.criterion == criterion and c.metric in _OF_LABELS
        }
        if all(below is None for below in now.values()):
            return Agreement.UNKNOWN
        return _state({m for (m, s), run in runs.items() if run.length >= self._rules.weeks and now.get((m, s))})

    def reasons_below(self, criterion: str) -> bool | None:
        """Whether reasoning agreement over all items has been below its band for ``weeks`` in a row; None: no band."""
        run, now = Run(), None
        for checks in self._checks:
            for c in checks:
                if (c.criterion, c.metric, c.slice) == (criterion, "reasoning_agreement", EVERYTHING):
                    run, now = run.after(c.below), c.below
        return None if now is None else now and run.length >= self._rules.weeks

    def _compared(self, criterion: str) -> Agreement:
        """Did the judge's Spec or Rec against the majority fall since the weeks before? Needs no band."""
        now = confusion(self.week.panel(criterion))
        before = confusion([row for week in self.baseline for row in week.panel(criterion)])
        spec, rec = _fell(now, before, "spec", self._rules), _fell(now, before, "rec", self._rules)
        if spec is None or rec is None:
            return Agreement.UNKNOWN
        return _state({metric for metric, fell in (("specificity", spec), ("recall", rec)) if fell})


def _fell(now: Confusion, before: Confusion, which: str, rules: Rules) -> bool | None:
    pairs = [(c.caught, c.fails) if which == "spec" else (c.kept, c.passes) for c in (now, before)]
    change = rate_change(pairs[0], pairs[1], least=rules.least_change)
    return None if isinstance(change, Unavailable) else change == "dropped"


def _worse(one: Agreement, other: Agreement) -> Agreement:
    """What either of two looks says; unknown only where both are."""
    if Agreement.UNKNOWN in (one, other):
        return other if one is Agreement.UNKNOWN else one
    fell = {"specificity": one.spec_fell or other.spec_fell, "recall": one.recall_fell or other.recall_fell}
    return _state({metric for metric, down in fell.items() if down})


def _state(below: Collection[str]) -> Agreement:
    if not below:
        return Agreement.INSIDE
    if len(set(below)) == 2:
        return Agreement.BOTH_BELOW
    return Agreement.SPEC_BELOW if "specificity" in below else Agreement.RECALL_BELOW


def _share(check: BandCheck) -> float | str:
    return check.bootstrap.reason if isinstance(check.bootstrap, Unavailable) else check.bootstrap.p_inside
