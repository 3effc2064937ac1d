"""``assay tail --metrics``: each week's figures for a terminal, generator health and judge health apart."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime

from rich.console import Group
from rich.table import Table
from rich.text import Text

from schemas.codec import decode
from schemas.errors import BadMessage
from schemas.reports import Health, MetricReport
from schemas.topics import METRICS
from workers.cli.output import console
from workers.report.building import build
from workers.report.page import Line, Panel, Series
from workers.report.published import Published
from workers.report.words import interval, written
from workers.runtime.connection import Connection
from workers.runtime.printable import escaped
from workers.runtime.reading import follow, read_to_end
from workers.runtime.records import InRecord

SHOWN = ("pass-rate", "strata", "band", "agreement", "coverage", "causes", "cost", "defects", "step", "raters")
"""The panels of the report that fit a terminal, by id."""

_TITLES = {
    Health.GENERATOR: "generator health", Health.JUDGE: "judge health", Health.SERVED: "what reached readers",
    Health.RATERS: "raters",
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
    console.print(shown(page.series[0]))


def shown(series: Series) -> Group:
    """Each health's sentence, then a line a figure; what does not exist is said in words."""
    parts: list[Text | Table] = []
    for section in series.sections:
        parts.append(Text())
        parts.append(Text.assemble((f"{_TITLES[section.health]}  ", "bold"), escaped(section.sentence)))
        parts.append(_table([panel for panel in section.panels if panel.id in SHOWN and panel.lines]))
    return Group(*parts)


def _table(panels: Sequence[Panel]) -> Table:
    # Widths by ratio: least widths that do not fit together would cut words off.
    table = Table(box=None, show_header=False, pad_edge=False, expand=True)
    table.add_column(overflow="fold", ratio=3)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(style="dim", overflow="fold", ratio=2)
    for panel in panels:
        table.add_row(Text(f"  {panel.title}", "dim"))
        for line in panel.lines:
            table.add_row(Text(f"    {escaped(line.label)}"), written(line.value, line.unit), Text(_beside(line)))
    return table


def _beside(line: Line) -> str:
    return escaped(line.reason) if line.reason is not None else interval(line)
