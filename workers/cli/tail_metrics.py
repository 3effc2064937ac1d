"""``assay tail --metrics``: each week's figures for a terminal, generator health and judge health apart."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncGenerator
from datetime import UTC, datetime

from rich.table import Table

from schemas.codec import decode
from schemas.errors import BadMessage
from schemas.reports import Health, MetricReport
from schemas.topics import METRICS
from workers.cli.output import console
from workers.report.building import build
from workers.report.page import Line, Series
from workers.report.published import Published
from workers.report.words import interval, written
from workers.runtime.connection import Connection
from workers.runtime.printable import escaped
from workers.runtime.reading import follow, read_to_end
from workers.runtime.records import InRecord

SHOWN = ("pass-rate", "strata", "band", "agreement", "coverage", "causes", "cost", "defects", "step", "raters")
"""The panels of the report that fit a terminal, by id."""

_TITLES = {
    Health.GENERATOR: "generator", Health.JUDGE: "judge", Health.SERVED: "reached readers", Health.RATERS: "raters",
}  # fmt: skip


async def tail_metrics(kafka: Connection, topic: str, *, to_end: bool, limit: int | None, as_json: bool) -> None:
    """The newest report of the newest weeks (one, or ``limit``), then every later one unless ``to_end``."""
    published = Published()
    async with contextlib.aclosing(read_to_end(kafka, [topic])) as records:
        async for record in records:
            if (report := _report(record)) is not None:
                published.add(report)
    newest = set(published.weeks()[-(limit or 1) :])
    for report in sorted(published.reports.values(), key=lambda r: (r.window, r.bom_version)):
        if report.window in newest:
            _show(report, as_json=as_json)
    if not to_end:
        async for report in _later(kafka, topic, published):
            _show(report, as_json=as_json)


async def _later(kafka: Connection, topic: str, seen: Published) -> AsyncGenerator[MetricReport, None]:
    """From the beginning, so that nothing is missed between reading and following."""
    async with contextlib.aclosing(follow(kafka, [topic], from_beginning=True)) as records:
        async for record in records:
            report = _report(record)
            if report is not None and _news(report, seen):
                seen.add(report)
                yield report


def _news(report: MetricReport, seen: Published) -> bool:
    before = seen.reports.get((report.window, report.bom_version))
    return before is None or (before.reported_at, before.revision) < (report.reported_at, report.revision)


def _report(record: InRecord) -> MetricReport | None:
    try:
        message = decode(METRICS, record.value).message
    except BadMessage:
        return None
    return message if isinstance(message, MetricReport) else None


def _show(report: MetricReport, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(report.model_dump_json() + "\n")
        sys.stdout.flush()
        return
    alone = Published()
    alone.add(report)
    try:
        page = build(alone, report.window, now=datetime.now(UTC))
    except ValueError:
        return  # no ISO week: not a report of ours
    state = "final" if report.final else "provisional"
    title = f"{report.window}  {report.bom_version}  revision {report.revision}, {state}"
    console.print(escaped(title), style="bold", markup=False, highlight=False, soft_wrap=True)
    console.print(table(page.series[0]))


def table(series: Series) -> Table:
    """One line a figure under its health; what does not exist is said in words."""
    shown = Table(box=None, show_header=False, pad_edge=False)
    for style, justify in (("dim", "left"), (None, "left"), ("bold", "right"), ("dim", "left")):
        shown.add_column(style=style, justify=justify)  # type: ignore[arg-type]
    for section in series.sections:
        name = _TITLES[section.health]
        for panel in section.panels:
            for line in panel.lines if panel.id in SHOWN else ():
                shown.add_row(
                    name, _plain(f"{panel.title}: {line.label}"), written(line.value, line.unit), _beside(line)
                )
                name = ""
    return shown


def _beside(line: Line) -> str:
    return _plain(line.reason) if line.reason is not None else interval(line)


def _plain(text: str) -> str:
    """Printable, and no markup of the terminal's."""
    return escaped(text).replace("[", "\\[")
