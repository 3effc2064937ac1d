"""``assay plan what-if``: last week's verdicts under another retry budget, threshold or enforcement."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from schemas.bom import Bom
from schemas.decisions import Decision
from schemas.errors import SettingsError
from schemas.telemetry import AttemptRecord
from schemas.topics import TELEMETRY
from workers.cli.context import bom_of, clear_errors, cluster_settings
from workers.cli.output import Exit, console, fail, print_json
from workers.hitl.population import Week
from workers.hitl.records import messages_of
from workers.judge.what_if import End, Rounds, Settings, Unknown
from workers.runtime.connection import connection
from workers.runtime.naming import Names


def register(app: typer.Typer) -> None:
    app.command(name="what-if")(what_if)


def what_if(
    week: Annotated[str, typer.Option(help="ISO week of the judgments, such as 2026-W48.")],
    retries: Annotated[int | None, typer.Option(min=0, help="Another retry budget K.")] = None,
    pass_at: Annotated[
        list[str] | None, typer.Option(help="CRITERION=SCORE: the lowest score that passes; may be given often.")
    ] = None,
    enforce: Annotated[
        list[str] | None, typer.Option(help="Criterion that can block; may be given often; the others only watch.")
    ] = None,
    bom: Annotated[Path | None, typer.Option("--bom", help="Folder of the BOM; default: ASSAY_BOM.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """What would the week have looked like under other settings? Asks no judge: the verdicts on record decide.

    Exact where the verdicts are there. A round that would have been revised where it was not ends unknown.
    """
    with clear_errors():
        judged, chosen = bom_of(bom), Week.named(week)
        was = Settings.of(judged)
        would = changed(was, judged, retries=retries, pass_at=pass_at or (), enforce=enforce or ())
        rounds, there = asyncio.run(_rounds(judged, chosen))
    before, after = rounds.ends(was), rounds.ends(would)
    if not before:
        held = "; it holds " + ", ".join(there) if there else ""
        fail(f"telemetry holds no round of {week} under BOM version {judged.version}{held}", Exit.FOUND)
    if as_json:
        print_json(_document(week, judged, before, after))
    else:
        _show(week, before, after)


def changed(
    was: Settings, bom: Bom, *, retries: int | None, pass_at: list[str] | tuple[()], enforce: list[str] | tuple[()]
) -> Settings:
    """Raises SettingsError naming what is no criterion, no score or no scale."""
    known = {criterion.id: criterion for criterion in bom.charter.criteria.must_have}
    scales = {}
    for given in pass_at:
        name, _, score = given.partition("=")
        scale = known[name].scale if name in known else None
        if scale is None:
            ordinal = ", ".join(c.id for c in known.values() if c.scale) or "none of this BOM"
            raise SettingsError(f"--pass-at {given[:80]!r}: criteria with a scale: {ordinal}")
        if not score.lstrip("-").isdecimal() or not scale.min < int(score) <= scale.max:
            raise SettingsError(f"--pass-at {given[:80]!r}: a whole number above {scale.min}, at most {scale.max}")
        scales[name] = scale.model_copy(update={"pass_at": int(score)})
    for name in enforce:
        if name not in known:
            raise SettingsError(f"--enforce {name[:80]!r}: the must-have criteria are {', '.join(known)}")
    if retries is not None:
        was = replace(was, retry_budget=retries)
    return replace(was, scales=scales, enforced=frozenset(enforce) if enforce else was.enforced)


async def _rounds(bom: Bom, week: Week) -> tuple[Rounds, list[str]]:
    """The week's rounds, and the newest of the weeks and BOM versions that telemetry has at all."""
    settings, rounds = cluster_settings(), Rounds(bom.version, start=week.start, end=week.end)
    there: set[tuple[str, str]] = set()
    async for message in messages_of(connection(settings), Names(settings.topic_prefix), TELEMETRY):
        if isinstance(message, AttemptRecord):
            rounds.take(message)
            there.add((f"{message.judged_at:%G-W%V}", message.bom_version))
    return rounds, [f"{name} under {version}" for name, version in sorted(there)[-6:]]


def _show(week: str, before: dict[str, End], after: dict[str, End]) -> None:
    n, was, would = len(before), Counter(before.values()), Counter(after.values())
    table = Table(title=f"{n} rounds of {week}", title_justify="left")
    for column in ("end of the round", "as set", "what if"):
        table.add_column(column)
    for end in _in_order(was, would):
        table.add_row(str(end), f"{was[end]} ({was[end] / n:.1%})", f"{would[end]} ({would[end] / n:.1%})")
    console.print(table)
    moved = Counter((before[id_], after[id_]) for id_ in before if before[id_] is not after[id_])
    for (one, other), times in sorted(moved.items(), key=lambda move: (-move[1], str(move[0]))):
        console.print(f"{times}: {one} -> {other}", highlight=False)


def _in_order(*counts: Counter[End]) -> list[End]:
    return [end for end in (*Decision, *Unknown) if any(of[end] for of in counts)]


def _document(week: str, bom: Bom, before: dict[str, End], after: dict[str, End]) -> dict[str, Any]:
    moved = Counter((before[id_], after[id_]) for id_ in before if before[id_] is not after[id_])
    ends = (*Decision, *Unknown)
    return {
        "week": week,
        "bom_version": bom.version,
        "rounds": len(before),
        "as_set": {end.name.lower(): n for end in ends if (n := list(before.values()).count(end))},
        "what_if": {end.name.lower(): n for end in ends if (n := list(after.values()).count(end))},
        "moved": [
            {"from": one.name.lower(), "to": other.name.lower(), "rounds": n}
            for (one, other), n in sorted(moved.items(), key=lambda move: str(move[0]))
        ],
    }
