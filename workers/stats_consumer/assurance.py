"""What the counts say now: reports of the weeks that changed, and the alerts that are news."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import NamedTuple

import orjson

from schemas.alerts import Alert
from schemas.bom import Bom
from schemas.decisions import RoundAbandoned
from schemas.ids import event_id
from schemas.message import Message
from schemas.reports import Figure, Health, MetricReport
from workers.stats_consumer.agreement import agreement_figures
from workers.stats_consumer.alert_book import AlertBook
from workers.stats_consumer.audit_check import audit_figures, hedging_figures
from workers.stats_consumer.band_check import band_checks, band_figures
from workers.stats_consumer.calibration import calibration_figures
from workers.stats_consumer.checking import Checking, last_weeks, leading_bom
from workers.stats_consumer.closed_checks import Limits
from workers.stats_consumer.figure import value
from workers.stats_consumer.fold import Fold, Rows
from workers.stats_consumer.generator_health import generator_figures
from workers.stats_consumer.judge_health import judge_figures
from workers.stats_consumer.rounds import Round
from workers.stats_consumer.rules import DEFAULT_RULES, Rules
from workers.stats_consumer.served_check import served_figures
from workers.stats_consumer.week import Week, weeks_of
from workers.stats_consumer.weeks import last_closed, pane_of, week_name

_AGES = (("under an hour", 3600.0), ("under a day", 86_400.0), ("over a day", float("inf")))


class Terms(NamedTuple):
    """``revision_ttl``: an open round is abandoned after it. ``label_wait``: a week takes labels for so long after its
    end, then it is final. ``weeks_kept``: older weeks are forgotten; their reports stay on the topic."""

    revision_ttl: timedelta = timedelta(days=1)
    label_wait: timedelta = timedelta(days=14)
    weeks_kept: int = 57
    again_after: timedelta = timedelta(days=1)


class _Said(NamedTuple):
    """The last report of a window."""

    revision: int
    digest: str
    final: bool


Listener = Callable[[Sequence[Alert], MetricReport | None, int], None]
"""Told of the alerts of one look, the newest report of the leading BOM version, and how many alerts fire."""


class Assurance:
    """Made from stored rows. The BOM gives the charter's limits; each series stands under its own BOM version."""

    def __init__(
        self,
        bom: Bom,
        rows: Mapping[str, bytes] | None = None,
        *,
        terms: Terms = Terms(),  # noqa: B008 - frozen
        rules: Rules = DEFAULT_RULES,
        listener: Listener | None = None,
    ) -> None:
        charter = bom.charter
        costs = charter.relative_costs.break_even_defect_rate
        self._limits = Limits(charter.retry_budget, charter.max_served_defect_rate, costs)
        self._terms, self._rules, self._listener = terms, rules, listener
        self._checking = Checking(self._limits, rules, label_wait=terms.label_wait)
        self._book = AlertBook(rows, again_after=terms.again_after)
        self._said = {n: _Said(*orjson.loads(row)) for n, row in (rows or {}).items() if n.startswith("p|")}
        self._changes: dict[str, bytes | None] = {}

    def assess(self, fold: Fold, *, now: datetime) -> list[Message]:
        """Also lets time pass in the fold: rounds are given up, weeks become final, old ones are forgotten."""
        abandoned = [self._abandoned(r) for r in fold.abandon(before=now - self._terms.revision_ttl)]
        fold.close(last_closed(now, lateness=self._terms.label_wait))
        first = pane_of(now) - self._terms.weeks_kept
        fold.forget(before=first)
        self._forget(first)
        weeks = weeks_of(fold.cells)
        touched = fold.take_windows() | {(bom, pane_of(now)) for bom in weeks}
        reports = [r for r in self._reports(weeks, fold, touched, now) if r is not None]
        alerts = self._book.tell(self._checking(weeks, now=now), window=week_name(pane_of(now)), now=now)
        if self._listener is not None:
            leading = leading_bom(weeks, pane_of(now))
            of_leading = [r for r in reports if r.bom_version == leading]
            newest = max(of_leading, key=lambda r: r.window, default=None)
            self._listener(alerts, newest, self._book.firing())
        return [*abandoned, *reports, *alerts]

    def changes(self) -> Rows:
        changes, self._changes = self._changes, {}
        return {**changes, **self._book.changes()}

    def rows(self) -> Rows:
        return {**{n: orjson.dumps(list(said)) for n, said in self._said.items()}, **self._book.rows()}

    def _reports(
        self, weeks: Mapping[str, Mapping[int, Week]], fold: Fold, touched: set[tuple[str, int]], now: datetime
    ) -> Iterator[MetricReport | None]:
        unfinished = {(b, p) for b, of in weeks.items() for p in of if self._not_final(b, p, fold)}
        for bom, pane in sorted(touched | unfinished):
            if bom and pane in weeks.get(bom, {}):
                yield self._report(weeks[bom], bom, pane, fold, now)

    def _not_final(self, bom: str, pane: int, fold: Fold) -> bool:
        said = self._said.get(_row(bom, pane))
        return said is not None and not said.final and pane <= fold.final_through

    def _report(self, weeks: Mapping[int, Week], bom: str, pane: int, fold: Fold, now: datetime) -> MetricReport | None:
        figures = (*self.figures(weeks, pane), *(_open_rounds(fold, bom, now) if pane == pane_of(now) else ()))
        late, final = fold.late.get(pane, 0), pane <= fold.final_through
        digest = sha256(orjson.dumps([[f.model_dump(mode="json") for f in figures], late])).hexdigest()[:16]
        before = self._said.get(_row(bom, pane))
        if before is not None and (before.digest, before.final) == (digest, final):
            return None
        said = _Said(before.revision + 1 if before else 0, digest, final)
        self._said[_row(bom, pane)] = said
        self._changes[_row(bom, pane)] = orjson.dumps(list(said))
        window = week_name(pane)
        return MetricReport(
            event_id=event_id("metric_report", window, bom, said.revision), window=window, bom_version=bom,
            revision=said.revision, final=final, figures=figures, late_dropped=late, reported_at=now,
        )  # fmt: skip

    def figures(self, weeks: Mapping[int, Week], pane: int) -> list[Figure]:
        """All figures of one week."""
        week, pooled = weeks[pane], last_weeks(weeks, pane, self._rules.pooled_weeks)
        served = served_figures(
            week, pooled, cap=self._limits.cap, retry_budget=self._limits.retry_budget,
            break_even=self._limits.break_even, rules=self._rules,
        )  # fmt: skip
        return [
            *generator_figures(week, retry_budget=self._limits.retry_budget),
            *judge_figures(week),
            *agreement_figures(week),
            *calibration_figures(week),
            *band_figures(band_checks(week, self._rules)),
            *served,
            *audit_figures(week),
            *hedging_figures(week),
        ]

    def _abandoned(self, round_: Round) -> RoundAbandoned:
        """The same message, however often it is found: nothing in it depends on when this worker looked."""
        judged_at, attempt = datetime.fromtimestamp(round_.last_at, tz=UTC), max(round_.attempts, default=0)
        return RoundAbandoned(
            event_id=event_id("round_abandoned", round_.round_id, attempt), item_id=round_.item_id,
            round_id=round_.round_id, attempt=attempt, bom_version=round_.bom_version, judged_at=judged_at,
            abandoned_at=judged_at + self._terms.revision_ttl,
        )  # fmt: skip

    def _forget(self, first: int) -> None:
        for name in [name for name in self._said if int(name.rsplit("|", 1)[1]) < first]:
            del self._said[name]
            self._changes[name] = None


def _row(bom: str, pane: int) -> str:
    return f"p|{bom}|{pane}"


def _open_rounds(fold: Fold, bom: str, now: datetime) -> Iterator[Figure]:
    ages = [now.timestamp() - r.last_at for r in fold.rounds.open_rounds() if r.bom_version == bom]
    youngest = 0.0
    for name, oldest in _AGES:
        n = sum(youngest <= age < oldest for age in ages)
        yield value(Health.GENERATOR, "open_rounds", n, of="rounds", scope={"age": name})
        youngest = oldest
