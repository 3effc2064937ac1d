"""``assay report``: one week as one HTML page that needs no network, from the topics alone."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from workers.bom import load_bom, read_files
from workers.bom.example import example_bom
from workers.cli.context import clear_errors, cluster_settings
from workers.cli.output import Exit, console, counted, fail, notes
from workers.local.example_report import example_published
from workers.report.building import build
from workers.report.gather import gather
from workers.report.page import Page
from workers.report.published import Published
from workers.runtime.connection import connection
from workers.runtime.naming import Names
from workers.stats_consumer.weeks import last_closed, pane_named, week_name


class Format(StrEnum):
    """File formats of the plots."""

    PDF = "pdf"
    PNG = "png"
    SVG = "svg"


def register(app: typer.Typer) -> None:
    app.command()(report)


def report(
    week: Annotated[str | None, typer.Option(help="ISO week, 2026-W48; without it the last that has closed.")] = None,
    out: Annotated[Path | None, typer.Option(help="The page's file; without it assay-report-WEEK.html here.")] = None,
    plots: Annotated[Path | None, typer.Option(help="Write the charts into this folder, instead of a page.")] = None,
    kind: Annotated[Format, typer.Option("--format", help="Of the charts.")] = Format.PDF,
    example: Annotated[
        bool, typer.Option("--example", help="Six made-up weeks, to see what a report holds; needs no Kafka.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The same numbers as one JSON document, no page.")] = False,
) -> None:
    """Write the week's report: generator health and judge health apart, alerts, and what is missing.

    It is made from the topics metrics, alerts and canary; no worker is disturbed and no Redis is read.
    """
    with clear_errors():
        now = datetime.now(UTC)
        chosen = week or week_name(last_closed(now))
        _check(chosen)
        published = _example(now) if example else asyncio.run(_read())
        page = build(published, chosen, now=now)
    if as_json:
        typer.echo(page.model_dump_json())
    if plots is not None:
        _plot(page, plots, kind)
    if out is not None or not (as_json or plots):
        _write(page, out or Path(f"assay-report-{chosen}.html"), say=notes if as_json else console)
    if not page.series:
        _say_what_there_is(page)
        raise typer.Exit(int(Exit.FOUND))


def _check(week: str) -> None:
    try:
        pane_named(week)
    except ValueError:
        fail(f"--week {week!r} is no ISO week; write it like 2026-W48")


async def _read() -> Published:
    settings = cluster_settings()
    return await gather(connection(settings), Names(settings.topic_prefix))


def _example(now: datetime) -> Published:
    notes.print("made-up weeks: no text was judged and nobody has labelled anything", style="yellow", highlight=False)
    return example_published(load_bom(read_files(example_bom())), now=now)


def _write(page: Page, path: Path, *, say: Console) -> None:
    try:
        from workers.report.rendering import html
    except ImportError as error:
        _no_plots(error)
    text = html(page)
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)  # noqa: PTH105 - whoever has the old page open keeps a whole one
    except OSError as error:
        fail(f"cannot write {path}: {error.strerror}")
    say.print(str(path), markup=False, highlight=False, soft_wrap=True)


def _plot(page: Page, folder: Path, kind: Format) -> None:
    try:
        from workers.report.plots import write_plots
    except ImportError as error:
        _no_plots(error)
    try:
        paths = write_plots(page, folder, str(kind))
    except OSError as error:
        fail(f"cannot write to {folder}: {error.strerror}")
    notes.print(f"{counted(len(paths), 'chart')} in {folder}", highlight=False, markup=False, soft_wrap=True)


def _no_plots(error: ImportError) -> NoReturn:
    fail(f"{error.name or 'matplotlib'} is not installed; `pip install 'assay[plots]'` brings it. --json works without")


def _say_what_there_is(page: Page) -> None:
    there = ", ".join(page.weeks_published[-12:])
    what = f"there are figures of {there}" if there else "no week has any yet: does `assay run stats` run?"
    notes.print(f"no figures of {page.week}; {what}", style="yellow", highlight=False, markup=False, soft_wrap=True)
