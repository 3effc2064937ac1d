"""``assay sample``: draw the week's items for raters, blind and repeatable, and publish the tasks."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.table import Table

from schemas.bom import Bom
from schemas.decisions import ItemDecision
from schemas.errors import BomError, SettingsError
from schemas.labels import LabelTask, SampledItem
from schemas.topics import LABEL_TASKS, SAMPLES, TELEMETRY
from workers.bom.labelled_set import GOLD_SET, LabelledItem, read_labelled_set
from workers.cli.context import bom_of, clear_errors, cluster_settings
from workers.cli.output import Exit, console, fail, notes, print_json
from workers.hitl.drawing import CellCount, Drawn, cell_sizes, draw_audit, draw_pairs, draw_week, revised
from workers.hitl.population import Population, Week, strata_of
from workers.hitl.records import drafts_of, messages_of, publish
from workers.hitl.seeking import Attempts, Sought
from workers.hitl.tasks import Asked, ask, ask_gold, shuffled
from workers.runtime.connection import Connection, connection
from workers.runtime.naming import Names
from workers.runtime.printable import escaped
from workers.runtime.reading import Gone
from workers.runtime.settings import Settings


def register(app: typer.Typer) -> None:
    app.command()(sample)


class Draw(NamedTuple):
    """What one draw of the week is: the charter's cells, the audit and the pairs, and the gold items beside them."""

    cells: list[CellCount]
    audit: int
    revised: int  # rounds that went into revision
    pairs: int  # of those, drawn
    drawn: list[Drawn]
    gold: list[Asked]


class Outcome(NamedTuple):
    draw: Draw
    before: int  # tasks of the week that were published by an earlier run
    published: int
    gone: list[Gone]
    moved: int  # of those, how many this draw would not have drawn


def sample(
    week: Annotated[str, typer.Option(help="ISO week of the judgments, such as 2026-W48.")],
    bom: Annotated[Path | None, typer.Option("--bom", help="Folder of the BOM; default: ASSAY_BOM.")] = None,
    audit: Annotated[int, typer.Option(min=0, help="Items of a uniform draw from what was served, for PPI.")] = 0,
    gold: Annotated[Path | None, typer.Option(help="JSONL of gold items; default: gold.jsonl of the BOM.")] = None,
    gold_items: Annotated[int, typer.Option(min=0, help="Gold items to mix in.")] = 10,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the cells; publish nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Draw the charter's weekly sample from the decisions of a week and publish one blind task a draft.

    Beside it the charter's pairs: first draft and revision of a few rounds, which tell whether misses repeat. A repeat
    draws the same items and publishes what is missing. Ends with 1 where a drawn draft's record is gone.
    """
    with clear_errors():
        judged, chosen, now = bom_of(bom), Week.named(week), datetime.now(UTC)
        if now < chosen.end and not dry_run:
            raise SettingsError(f"{week} ends on {chosen.end:%F}: draw it then, or look at it with --dry-run")
        known = _gold(judged, gold)
        outcome = asyncio.run(_sample(judged, chosen, cluster_settings(), known, (audit, gold_items), dry_run, now))
    if as_json:
        print_json(_document(week, outcome, dry_run=dry_run))
    else:
        _show(week, outcome, dry_run=dry_run)
    raise typer.Exit(int(Exit.FOUND if outcome.gone or outcome.moved else Exit.OK))


def _gold(bom: Bom, path: Path | None) -> tuple[LabelledItem, ...]:
    if path is None and GOLD_SET not in bom.files:
        return ()
    criteria = frozenset(criterion.id for criterion in bom.charter.criteria.must_have)
    if path is None:
        return read_labelled_set(GOLD_SET, bom.files[GOLD_SET], criteria=criteria)
    try:
        return read_labelled_set(path.name, path.read_bytes(), criteria=criteria)
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from error
    except BomError as error:
        raise SettingsError(str(error)) from error


async def _sample(
    bom: Bom,
    week: Week,
    settings: Settings,
    gold: tuple[LabelledItem, ...],
    sizes: tuple[int, int],
    dry_run: bool,
    now: datetime,
) -> Outcome:
    kafka, names = connection(settings), Names(settings.topic_prefix)
    population = await _population(kafka, names, bom, week)
    audit, gold_items = sizes
    draw = _draw(population, bom, audit, ask_gold(gold, gold_items, bom, week, now=now))
    if dry_run:
        return Outcome(draw, 0, 0, [], 0)
    sought, halves = await _sought(kafka, names, draw.drawn)
    before, sampled = await _drawn_before(kafka, names, week)
    ids = {one.task_id(week) for one in sought} | {one.task.task_id for one in draw.gold}
    if moved := len(sampled - ids):
        return Outcome(draw, len(before), 0, [], moved)
    missing = [one for one in sought if one.task_id(week) not in before]
    drafts = await drafts_of(kafka, names, missing)
    asked = [one for one in draw.gold if one.task.task_id not in before]
    for one, draft in zip(missing, drafts, strict=True):
        if not isinstance(draft, Gone):
            asked.append(ask(one, draft, bom, week, now=now))
    await _publish(kafka, names, asked, settings, now)
    gone = [*halves, *(draft for draft in drafts if isinstance(draft, Gone))]
    return Outcome(draw, len(before), len(asked), gone, 0)


async def _population(kafka: Connection, names: Names, bom: Bom, week: Week) -> Population:
    population, weeks = Population(week, strata_of(bom.charter.hitl.strata)), set[str]()
    async for message in messages_of(kafka, names, TELEMETRY):
        population.take(message)
        if isinstance(message, ItemDecision):
            weeks.add(f"{message.decided_at:%G-W%V}")
    if not population.decisions:
        there = f"telemetry has those of {', '.join(sorted(weeks)[-8:])}" if weeks else "telemetry has none at all"
        fail(f"no decision of {week.name} in the charter's strata; {there}", Exit.FOUND)
    return population


def _draw(population: Population, bom: Bom, audit: int, gold: list[Asked]) -> Draw:
    hitl = bom.charter.hitl
    cells = cell_sizes(population, oversample=hitl.oversample, size=hitl.weekly_sample)
    sample = draw_week(population, cells, oversample=hitl.oversample)
    audited, pairs = draw_audit(population, audit), draw_pairs(population, hitl.weekly_pairs)
    return Draw(cells, len(audited), len(revised(population)), len(pairs), [*sample, *audited, *pairs], gold)


async def _sought(kafka: Connection, names: Names, drawn: list[Drawn]) -> tuple[list[Sought], list[Gone]]:
    """Telemetry a second time, of the drawn items alone: what was said of a whole week would not fit into memory."""
    attempts, keys = Attempts(drawn), {one.decision.key().encode() for one in drawn}
    async for message in messages_of(kafka, names, TELEMETRY, keys=keys):
        attempts.take(message)
    return attempts.sought(drawn)


async def _drawn_before(kafka: Connection, names: Names, week: Week) -> tuple[set[str], set[str]]:
    """Ids of the week's tasks, and of its sampled items: a run that was killed may have left the second alone."""
    tasks: set[str] = set()
    sampled: set[str] = set()
    async for message in messages_of(kafka, names, LABEL_TASKS, SAMPLES):
        if isinstance(message, LabelTask) and message.week == week.name:
            tasks.add(message.task_id)
        elif isinstance(message, SampledItem) and message.week == week.name:
            sampled.add(message.task_id)
    return tasks, sampled


async def _publish(kafka: Connection, names: Names, asked: list[Asked], settings: Settings, now: datetime) -> None:
    """What only stats may know goes first: no label can then arrive for an unknown task."""
    in_order = shuffled(asked)
    messages = [*(one.sampled for one in in_order), *(one.task for one in in_order)]
    await publish(kafka, names, messages, max_bytes=settings.max_message_bytes, at=now)


def _show(week: str, outcome: Outcome, *, dry_run: bool) -> None:
    table = Table(title=f"sample of {week}", title_justify="left")
    for column in ("stratum", "slice", "decided", "drawn", "inclusion probability"):
        table.add_column(column)
    draw = outcome.draw
    for cell, population, size in draw.cells:
        share = f"{size / population:.4f}"
        table.add_row(cell.stratum, escaped(cell.slice_name) or "-", str(population), str(size), share)
    console.print(table)
    console.print(f"pairs: first draft and revision of {draw.pairs} of {draw.revised} revised rounds", highlight=False)
    console.print(f"audit draw {draw.audit}, gold items {len(draw.gold)}", highlight=False)
    if dry_run:
        console.print("dry run: nothing was published")
        return
    console.print(f"published {outcome.published} tasks; {outcome.before} were there before", highlight=False)
    if outcome.moved:
        notes.print(
            f"{outcome.moved} earlier tasks of this week are not in this draw: other options, or decisions that came "
            "late. What was drawn first stands; nothing was published.",
            style="red",
            highlight=False,
        )
    for gone in outcome.gone[:20]:
        notes.print(escaped(str(gone)), style="red", markup=False, highlight=False)
    if outcome.gone:
        notes.print(f"{len(outcome.gone)} drawn drafts are gone: their items are missing from the sample", style="red")


def _document(week: str, outcome: Outcome, *, dry_run: bool) -> dict[str, Any]:
    draw = outcome.draw
    return {
        "week": week,
        "dry_run": dry_run,
        "cells": [
            {
                "stratum": cell.stratum,
                "slice": cell.slice_name or None,
                "population": population,
                "drawn": size,
                "inclusion_probability": size / population,
            }
            for cell, population, size in draw.cells
        ],
        "pairs": {
            "population": draw.revised,
            "drawn": draw.pairs,
            "inclusion_probability": draw.pairs / draw.revised if draw.pairs else None,
        },
        "audit": draw.audit,
        "gold": len(draw.gold),
        "published": outcome.published,
        "before": outcome.before,
        "not_in_this_draw": outcome.moved,
        "gone": [gone._asdict() for gone in outcome.gone],
    }
