"""What the topics say now: the newest report of each week and BOM version, every alert, every canary run. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from schemas.alerts import Alert
from schemas.canary import CanaryRun
from schemas.message import Message
from schemas.reports import MetricReport


@dataclass(slots=True)
class Published:
    """A fold: ``add`` what is read, in any order, as often as it comes."""

    reports: dict[tuple[str, str], MetricReport] = field(default_factory=dict)  # (week, BOM version)
    alerts: dict[str, Alert] = field(default_factory=dict)  # event id
    runs: dict[str, CanaryRun] = field(default_factory=dict)  # event id
    unreadable: int = 0

    def add(self, message: Message) -> None:
        match message:
            case MetricReport():
                self._replace(message)
            case Alert():
                self.alerts[message.event_id] = message
            case CanaryRun():
                self.runs[message.event_id] = message
            case _:
                pass

    def _replace(self, report: MetricReport) -> None:
        """The last word counts: after a lost Redis, revisions begin at 0 again, but time does not."""
        key = (report.window, report.bom_version)
        before = self.reports.get(key)
        if before is None or (before.reported_at, before.revision) < (report.reported_at, report.revision):
            self.reports[key] = report

    def of_week(self, week: str) -> dict[str, MetricReport]:
        """BOM version -> the newest report of the week."""
        return {bom: report for (window, bom), report in sorted(self.reports.items()) if window == week}

    def weeks(self) -> list[str]:
        return sorted({window for window, _ in self.reports})
