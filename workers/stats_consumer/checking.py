"""Which checks are made now, BOM version by BOM version: each one in force has its own, however small its share. Pure.

A version is in force from its first draft until the weeks in which it judged are final: what a judge that was rolled
back has let through is told when its labels come.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from workers.stats_consumer.canary_check import vendor_change
from workers.stats_consumer.cells import PANEL, USAGE
from workers.stats_consumer.closed_checks import Limits, closed_checks
from workers.stats_consumer.diagnosis import diagnose
from workers.stats_consumer.observing import Series
from workers.stats_consumer.outcome import Looked, Outcome
from workers.stats_consumer.rules import Rules
from workers.stats_consumer.running_checks import RUNNING, dead_letters, running_checks
from workers.stats_consumer.week import Week
from workers.stats_consumer.weeks import last_closed, pane_of

WeeksOf = Mapping[str, Mapping[int, Week]]
"""BOM version -> week number -> week."""


class Checking:
    """``label_wait``: how long after its end a week takes labels."""

    def __init__(self, limits: Limits, rules: Rules, *, label_wait: timedelta) -> None:
        self._limits, self._rules, self._label_wait = limits, rules, label_wait

    def __call__(self, weeks: WeeksOf, *, now: datetime) -> list[Looked]:
        """Everything that is checked at ``now``: dead letters, then each BOM version in force."""
        of_nobody = weeks.get("", {}).get(pane_of(now))
        return [Looked("", dead_letters(of_nobody)), *self._of_versions(weeks, now)]

    def _of_versions(self, weeks: WeeksOf, now: datetime) -> Iterator[Looked]:
        judging = judging_now(weeks, pane_of(now))
        lately = range(self._first_open(now), pane_of(now) + 1)
        for bom in sorted(weeks):
            if bom in judging:
                yield Looked(bom, [*self._running(weeks[bom], now), *self._closed(weeks[bom], now)])
            elif bom and any(_attempts(weeks[bom], pane) for pane in lately):
                yield Looked(bom, self._closed(weeks[bom], now), ended=RUNNING)

    def _running(self, own: Mapping[int, Week], now: datetime) -> Iterator[Outcome]:
        if (current := own.get(pane_of(now))) is not None:
            yield from running_checks(current, self._rules)
        yield vendor_change(last_weeks(own, pane_of(now), 2), self._rules)

    def _closed(self, own: Mapping[int, Week], now: datetime) -> list[Outcome]:
        if (pane := self._looked_at(own, now)) is None:
            return []
        series, history = Series(own, pane, self._rules), last_weeks(own, pane, self._rules.pooled_weeks)
        found = closed_checks(series, self._limits, history, self._rules)
        for criterion in series.week.criteria():
            found += diagnose(series.observed(criterion))
        return found

    def _looked_at(self, own: Mapping[int, Week], now: datetime) -> int | None:
        """The newest closed week that has labels; without any, the newest closed one. Labels take days to come."""
        closed = [pane for pane in own if self._first_open(now) <= pane <= last_closed(now)]
        labelled = [p for p in closed if any(own[p].strata(PANEL + c) for c in own[p].criteria())]
        return max(labelled or closed, default=None)

    def _first_open(self, now: datetime) -> int:
        return last_closed(now, lateness=self._label_wait)


def judging_now(weeks: WeeksOf, pane: int) -> set[str]:
    """The BOM versions that judged something in the newest week in which any did: one at least, if there is any.

    When nothing is judged at all for weeks, the last ones are still in force: their alerts do not end by silence.
    """
    judged = [(p, bom) for bom, of in weeks.items() if bom for p in of if p <= pane and _attempts(of, p)]
    newest = max((p for p, _ in judged), default=None)
    leading = leading_bom(weeks, pane)
    return {bom for p, bom in judged if p == newest} | ({leading} if leading is not None else set())


def leading_bom(weeks: WeeksOf, pane: int) -> str | None:
    """The BOM version that judged most in the newest week that has anything."""
    counted = [(p, _attempts(of, p), bom) for bom, of in weeks.items() if bom for p in of if p <= pane]
    return max(counted)[2] if counted else None


def last_weeks(weeks: Mapping[int, Week], pane: int, n: int) -> list[Week]:
    """The ``n`` weeks up to ``pane``, as far as they are there."""
    return [weeks[p] for p in range(pane - n + 1, pane + 1) if p in weeks]


def _attempts(weeks: Mapping[int, Week], pane: int) -> int:
    return weeks[pane].cells(USAGE)["attempts"] if pane in weeks else 0
