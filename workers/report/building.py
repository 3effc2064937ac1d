"""From what is published to one page. Pure: the same topics, week and ``now`` give the same page anywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from schemas.alerts import Alert, AlertState, Severity
from schemas.canary import CanaryRun
from schemas.reports import Figure, Health, MetricReport
from workers.report.changes import changes, missing
from workers.report.page import CanaryDay, Drawn, Page, Panel, Section, Series, Told
from workers.report.panels import line_of, panels
from workers.report.published import Published
from workers.report.status import status, told
from workers.stats_consumer.weeks import end_of, pane_named, week_name

CANARY_DAYS = 28
TREND_WEEKS = 8
_STATES = (AlertState.FIRING, AlertState.NO_DATA, AlertState.RESOLVED)
_SEVERITIES = (Severity.PAGE, Severity.TICKET, Severity.INFO)


def build(published: Published, week: str, *, now: datetime) -> Page:
    """The page of one ISO week, 2026-W48. Raises ValueError for a week that its year does not have."""
    pane = pane_named(week)
    begins, ends = end_of(pane - 1), end_of(pane)
    # Checks of a week wait for labels, which come in the week after it: that is when its alerts are told.
    as_of = min(now, end_of(pane + 1))
    alerts = standing(published.alerts.values(), since=begins, as_of=as_of)
    reports = published.of_week(week)
    leading = sorted(reports, key=lambda bom: (-(first_drafts(reports[bom]) or 0), bom))
    return Page(
        week=week, begins=begins, ends=ends, closed=ends <= now,
        final=bool(reports) and all(report.final for report in reports.values()),
        series=tuple(_series(published, bom, pane, alerts) for bom in leading),
        alerts_as_of=as_of, alerts=alerts, canary=strip(published.runs.values(), ends=ends),
        weeks_published=tuple(published.weeks()), unreadable_records=published.unreadable,
    )  # fmt: skip


def standing(alerts: Iterable[Alert], *, since: datetime, as_of: datetime) -> tuple[Told, ...]:
    """What stood at ``as_of``, and what was resolved since the week began; the urgent first."""
    newest: dict[str, Alert] = {}
    for alert in sorted((a for a in alerts if a.at <= as_of), key=lambda a: (a.at, a.event_id)):
        newest[alert.key()] = alert
    kept = [a for a in newest.values() if a.state is not AlertState.RESOLVED or a.at >= since]
    ranked = sorted(kept, key=lambda a: (_STATES.index(a.state), _SEVERITIES.index(a.severity), a.key()))
    return tuple(map(told, ranked))


def strip(runs: Iterable[CanaryRun], *, ends: datetime) -> tuple[CanaryDay, ...]:
    """The canary runs of the four weeks up to the week's end, in order."""
    shown = [run for run in runs if ends - timedelta(days=CANARY_DAYS) <= run.started_at < ends]
    seen: Counter[str] = Counter()
    days = []
    for run in sorted(shown, key=lambda run: (run.started_at, run.event_id)):
        day = run.started_at.date().isoformat()
        seen[day] += 1
        days.append(_canary_day(run, day, seen[day]))
    return tuple(days)


def _canary_day(run: CanaryRun, day: str, number: int) -> CanaryDay:
    own = [v for v in run.verdicts if not v.injection]
    injected = [v for v in run.verdicts if v.injection]
    return CanaryDay(
        day=day, run=number, bom_version=run.bom_version, items=len(own), flips=run.flips,
        undecided=sum(not v.label.decided for v in run.verdicts), injections=len(injected),
        injection_flips=sum(v.flipped for v in injected), threshold=run.threshold,
        threshold_reason=run.threshold_reason,
    )  # fmt: skip


def first_drafts(report: MetricReport) -> int | None:
    """How many first drafts a report rests on."""
    return next((f.n for f in report.figures if _is_gate(f)), None)


def _is_gate(figure: Figure) -> bool:
    return figure.name == "first_draft_pass_rate" and figure.scope == {"slice": "all"}


def _series(published: Published, bom: str, pane: int, alerts: Sequence[Told]) -> Series:
    now, before = published.of_week(week_name(pane)), published.of_week(week_name(pane - 1))
    report = now[bom]
    return Series(
        bom_version=bom, final=report.final, revision=report.revision, reported_at=report.reported_at,
        first_drafts=first_drafts(report), late_dropped=report.late_dropped,
        sections=tuple(_section(health, report, alerts, _trend(published, bom, pane)) for health in Health),
        missing=missing(report.figures), changes=changes(now, before, bom, since=week_name(pane - 1)),
    )  # fmt: skip


def _section(health: Health, report: MetricReport, alerts: Sequence[Told], trend: Panel) -> Section:
    firing = [a for a in alerts if a.state is AlertState.FIRING and a.about(report.bom_version, health)]
    condition, sentence = status(health, report.figures, firing)
    found = panels(health, report.figures)
    if health is Health.GENERATOR:
        found = (found[0], trend, *found[1:])
    return Section(health=health, condition=condition, sentence=sentence, panels=found)


def _trend(published: Published, bom: str, pane: int) -> Panel:
    """The gate's pass rate in the weeks before, under this BOM version."""
    lines = []
    for number in range(pane - TREND_WEEKS + 1, pane + 1):
        report = published.reports.get((week_name(number), bom))
        figure = next((f for f in report.figures if _is_gate(f)), None) if report is not None else None
        if figure is not None:
            lines.append(line_of(figure, named=False).model_copy(update={"label": week_name(number)}))
    return Panel(
        id="trend", title="First drafts that pass, week by week", note="Under this BOM version.",
        drawn=Drawn.INTERVALS, axis="share of first drafts", lines=tuple(lines),
        empty=None if lines else "no week has been published",
    )  # fmt: skip
