"""``assay replay``: recorded drafts, recorded judges and human labels, through the topics."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from schemas.errors import BomError
from stats.proportions import wilson
from stats.unavailable import Unavailable
from workers.cli.context import clear_errors, settings_of
from workers.cli.output import console, counted, fail, notes, print_json
from workers.replay.bom import RECORDING, replay_bom
from workers.replay.recordings import (
    RecordedItem,
    RecordingError,
    Row,
    SideTexts,
    items_of,
    judges_of,
    read_rows,
    read_side_texts,
)
from workers.replay.run import replay as run_replay
from workers.replay.tally import Summary


def register(app: typer.Typer) -> None:
    app.command()(replay)


def replay(
    drafts: Annotated[Path, typer.Argument(help="Recorded drafts with judges' verdicts and human labels (JSONL).")],
    judge: Annotated[str, typer.Option(help="Which recorded judge decides.")],
    sources: Annotated[list[Path] | None, typer.Option(help="Texts that the drafts point to; may be repeated.")] = None,
    order: Annotated[str, typer.Option(help="Generators in the order of attempts, comma separated.")] = "",
    retry_budget: Annotated[int, typer.Option(min=0, max=100, help="K: how often a draft may be revised.")] = 3,
    judges: Annotated[int, typer.Option(min=1, max=64, help="Judge workers; several need a Kafka of your own.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Run recorded drafts through the topics as if they were live, and say what would have been served."""
    try:
        rows, texts = _read(drafts, sources or [])
        items = items_of(rows, texts, order=[name.strip() for name in order.split(",") if name.strip()])
        _check_judge(rows, judge)
    except RecordingError as error:
        fail(str(error))
    _warn_of_missing_sources(rows, texts)
    with clear_errors():
        settings = settings_of()
        if judges > 1 and settings.kafka is None:
            fail("--judges above 1 needs a Kafka of your own: set ASSAY_KAFKA (the embedded one serves one of a group)")
        files = replay_bom(judge, drafts.read_bytes(), retry_budget=retry_budget)
        with _progress() as bar:
            task = bar.add_task(f"replaying {counted(len(items), 'item')}", total=len(items))
            run = run_replay(items, files, settings, judges=judges, progress=lambda n: bar.update(task, completed=n))
            try:
                summary = asyncio.run(run)
            except BomError as error:  # the BOM is made of the caller's file: that is what is wrong
                fail(str(error).replace(RECORDING, drafts.name))
    if as_json:
        print_json(summary._asdict())
    else:
        _show(summary, items)


def _read(drafts: Path, sources: list[Path]) -> tuple[list[Row], SideTexts]:
    try:
        rows = read_rows(drafts.name, drafts.read_text(encoding="utf-8").split("\n"))
        named = [(path.name, path.read_text(encoding="utf-8").split("\n")) for path in sources]
    except OSError as error:
        raise RecordingError(f"{error.filename or drafts} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RecordingError(f"{drafts} or a file of --sources is no text: byte {error.start} is not UTF-8") from error
    return rows, read_side_texts(named)


def _check_judge(rows: list[Row], judge: str) -> None:
    if judge not in judges_of(rows):
        known = ", ".join(judges_of(rows)) or "none"
        raise RecordingError(f"--judge: no verdict is by {judge!r}; the recording has: {known}")


def _warn_of_missing_sources(rows: list[Row], texts: SideTexts) -> None:
    missing = {r.meta.source_ref for r in rows if r.source is None and r.meta.source_ref} - texts.sources.keys()
    if missing:
        many = f"{len(missing)} sources are" if len(missing) > 1 else "1 source is"
        notes.print(f"{many} not in the files given; pass them with --sources", style="yellow", highlight=False)


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=notes, transient=True, disable=not notes.is_terminal)


def _show(summary: Summary, items: list[RecordedItem]) -> None:
    title = f"{counted(summary.items, 'item')}, {counted(summary.drafts_judged, 'draft')} judged"
    table = Table(title=title, title_justify="left")
    table.add_column("what became of it", no_wrap=True)
    for name in ("items", "human fail", "defect rate", "95 % Wilson"):
        table.add_column(name, justify="right")
    for attempt, served in enumerate(summary.served_by_attempt):
        labelled = served - summary.human_undecided_by_attempt[attempt]
        fails = summary.human_fail_by_attempt[attempt]
        said = f"{fails} of {labelled}" if labelled else "-"
        table.add_row(_stratum(attempt), str(served), said, *_rate(fails, labelled))
    table.add_row("dropped", str(summary.dropped))
    if summary.exhausted:
        table.add_row("  of them out of drafts", str(summary.exhausted))
    table.add_row("undecided, not served", str(summary.undecided))
    console.print(table)
    console.print(_reading_of(summary), style="dim", highlight=False)
    generators = {d.generator for item in items for d in item.drafts if d.generator}
    notes.print(f"generators: {', '.join(sorted(generators)) or 'not named'}", style="dim", markup=False)


def _stratum(attempt: int) -> str:
    return "served on first pass" if attempt == 0 else f"served at attempt {attempt}"


def _rate(fails: int, labelled: int) -> tuple[str, str]:
    interval = wilson(fails, labelled)
    if isinstance(interval, Unavailable):
        return "-", "-"
    return f"{fails / labelled:.1%}", f"{interval.lo:.1%} to {interval.hi:.1%}"


def _reading_of(summary: Summary) -> str:
    """What the columns mean, and why a cell is empty."""
    unlabelled = sum(summary.human_undecided_by_attempt)
    tied = f" {unlabelled} served without a majority of people are left out." if unlabelled else ""
    empty = " -: nothing served there has a label, so there is no rate." if _some_without_rate(summary) else ""
    return f"Defect rate: of what was served and labelled, the share that most people failed.{tied}{empty}"


def _some_without_rate(summary: Summary) -> bool:
    served = zip(summary.served_by_attempt, summary.human_undecided_by_attempt, strict=True)
    return any(number == undecided for number, undecided in served)
