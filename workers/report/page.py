"""What a report says, as plain values: the HTML page, the JSON document and the plots are made from this alone."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from schemas.alerts import AlertKind, AlertState, Severity
from schemas.message import Part
from schemas.reports import Health

SCHEMA = "assay.weekly_report.v1"
"""Named in every document: another name means other fields."""


class Unit(StrEnum):
    """How a value is to be read."""

    SHARE = "share"  # 0 to 1, shown in per cent
    POINTS = "points"  # a difference of shares
    NUMBER = "number"
    COUNT = "count"
    MILLISECONDS = "ms"
    USD = "usd"


class Drawn(StrEnum):
    """How a panel is drawn."""

    INTERVALS = "intervals"  # a point and its interval a row
    CURVE = "curve"  # over ``at``: attempts
    BARS = "bars"


class Condition(StrEnum):
    """A health at one glance. What nobody could measure is no good news."""

    ATTENTION = "attention"
    UNKNOWN = "unknown"
    CALM = "calm"


class Line(Part):
    """One number with its interval, or why there is none. ``at`` is its place on a curve's axis."""

    label: str
    figure: str
    scope: dict[str, str]
    unit: Unit
    of: str = ""
    value: float | None
    lo: float | None = None
    hi: float | None = None
    n: int | None = None
    reason: str | None = None
    at: int | None = None


class Mark(Part):
    """A line to compare with: a cap, break-even, nothing."""

    label: str
    value: float


class Panel(Part):
    """One question, its numbers, and how they are drawn (None: a table alone)."""

    id: str
    title: str
    note: str = ""
    drawn: Drawn | None = None
    axis: str = ""
    lines: tuple[Line, ...] = ()
    marks: tuple[Mark, ...] = ()
    empty: str | None = None  # why there is no line at all


class Section(Part):
    """One health under one BOM version."""

    health: Health
    condition: Condition
    sentence: str
    panels: tuple[Panel, ...]


class Moved(Part):
    """A figure whose interval this week and the one last week do not touch."""

    label: str
    unit: Unit
    before: float
    now: float


class Changes(Part):
    """Against the week before. ``not_compared`` says why there is nothing to compare with."""

    since: str
    new_boms: tuple[str, ...] = ()
    gone_boms: tuple[str, ...] = ()
    new_generators: tuple[str, ...] = ()
    gone_generators: tuple[str, ...] = ()
    moved: tuple[Moved, ...] = ()
    not_compared: str | None = None


class Missing(Part):
    """What is needed before some numbers exist."""

    reason: str
    figures: tuple[str, ...]


class Series(Part):
    """All of one BOM version in the week. A new version starts new series: nothing is summed over versions."""

    bom_version: str
    final: bool
    revision: int
    reported_at: datetime
    first_drafts: int | None
    late_dropped: int
    sections: tuple[Section, ...]
    missing: tuple[Missing, ...]
    changes: Changes


class Told(Part):
    """One alert as it stood."""

    kind: AlertKind
    state: AlertState
    severity: Severity
    health: Health
    scope: dict[str, str]
    summary: str
    diagnosis: str
    action: str
    runbook: str
    evidence: dict[str, float | str | None]
    bom_version: str
    times: int
    since: datetime
    at: datetime

    def about(self, bom_version: str, health: Health) -> bool:
        """Is it about that health of that BOM version? What is of no version is about each."""
        return self.bom_version in (bom_version, "") and self.health is health


class CanaryDay(Part):
    """One canary run. ``flips`` leaves injection cases and non-decisions out; they are counted apart."""

    day: str
    run: int  # 1 = the first of its day
    bom_version: str
    items: int
    flips: int
    undecided: int
    injections: int
    injection_flips: int
    threshold: int | None
    threshold_reason: str | None


class Page(Part):
    """The week's report. ``series`` is led by the BOM version that judged most; empty when nothing was published."""

    document: str = SCHEMA
    week: str
    begins: datetime
    ends: datetime
    closed: bool
    final: bool
    series: tuple[Series, ...]
    alerts_as_of: datetime
    alerts: tuple[Told, ...]
    canary: tuple[CanaryDay, ...]
    weeks_published: tuple[str, ...]
    unreadable_records: int

    @property
    def last_day(self) -> datetime:
        """The week's Sunday."""
        return self.ends - timedelta(days=1)

    @property
    def firing(self) -> tuple[Told, ...]:
        return tuple(alert for alert in self.alerts if alert.state is AlertState.FIRING)

    def firing_about(self, bom_version: str, health: Health) -> tuple[Told, ...]:
        return tuple(alert for alert in self.firing if alert.about(bom_version, health))

    @property
    def several_versions(self) -> bool:
        """Is there more than one BOM version to tell apart?"""
        return len({s.bom_version for s in self.series} | {a.bom_version for a in self.alerts if a.bom_version}) > 1
