"""``assay demo``: see it work, in one process, on the embedded services."""

from __future__ import annotations

import asyncio
import tempfile
import time
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from schemas.decisions import Decision
from workers.bom.example import example_bom
from workers.cli.context import clear_errors, settings_of
from workers.cli.output import Exit, console, counted, notes, print_json
from workers.cli.trace import render
from workers.embedded.items import demo_items, poison_records
from workers.local.demo import Board, Demo
from workers.local.stage import stage
from workers.runtime.logs import set_up
from workers.runtime.printable import escaped
from workers.trace.story import tell

_ROWS = (
    ("served on first pass", Decision.SERVED_FIRST_PASS, "green"),
    ("served after revision", Decision.SERVED_AFTER_REVISION, "green"),
    ("dropped to fallback", Decision.DROPPED, "red"),
    ("undecided, not served", Decision.UNDECIDED, "yellow"),
)
_LAST = 8


def register(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Judge, revise and serve about sixty product texts, some of them hostile, in this one process.

    Always on the embedded broker and cache and the example BOM, whatever the environment names.
    """
    # A name of its own: in a shared temporary folder a fixed one may be somebody else's file.
    descriptor, log = tempfile.mkstemp(prefix="assay-demo-", suffix=".log")
    with clear_errors(), open(descriptor, "w") as stream:  # noqa: PTH123 - a descriptor, not a path
        set_up("info", worker="demo", stream=stream)
        started = time.monotonic()
        board = asyncio.run(_run(live=not as_json))
        took_s = time.monotonic() - started
    if as_json:
        print_json(_document(board, took_s))
    else:
        _show(board, took_s, log)
    if not board.first_pass_done or any(claim.broken for claim in board.claims):
        raise typer.Exit(int(Exit.FOUND))


async def _run(*, live: bool) -> Board:
    settings = settings_of({}, bom=example_bom())
    async with stage(settings, ["judge", "reflector"]) as on:
        run = Demo(on, demo_items(), poison_records())
        if not live:
            return await run.run(lambda: None)
        with Live(console=console, refresh_per_second=8, transient=True) as screen:
            return await run.run(lambda: screen.update(_live(run.board), refresh=False))


def _live(board: Board) -> Group:
    return Group(_table(board), *(Text(f"  {escaped(line)}", style="dim") for line in board.last[-_LAST:]))


def _table(board: Board) -> Table:
    strata = board.strata()
    table = Table(title=f"{len(board.decisions)} of {board.items} items decided", title_justify="left")
    table.add_column("what became of it")
    table.add_column("items", justify="right")
    for name, decision, style in _ROWS:
        table.add_row(name, str(strata[decision]), style=style)
    table.add_row("dead-lettered records", str(board.dead_letters), style="magenta")
    return table


def _show(board: Board, took_s: float, log: str) -> None:
    console.print(_table(board))
    console.print(
        f"{board.attempts} drafts judged in {took_s:.0f} s with {board.model_calls} model calls. "
        f"Published once more, {board.second_pass} drafts got {board.cached_verdicts} verdicts from the cache.",
        highlight=False,
    )
    console.print(_proved(board), highlight=False)
    if (item := _instructive(board)) is not None:
        console.print()
        console.print(Panel(render(tell(item, board.seen)), title="one item, attempt by attempt", title_align="left"))
    console.print(_next_steps(board), highlight=False, markup=False)
    notes.print(f"the workers' log: {log}", style="dim")


def _proved(board: Board) -> str:
    contradicted = sum(len(claim.broken) for claim in board.claims)
    checks = counted(sum(claim.checked for claim in board.claims), "check")
    return f"From the topics alone (assay prove): {checks}, {counted(contradicted, 'contradiction')}."


def _instructive(board: Board) -> str | None:
    """An item that took two revisions, else one."""
    revised = {i: d for i, d in board.decisions.items() if d.decision is Decision.SERVED_AFTER_REVISION}
    return next((i for i, d in revised.items() if d.attempt == 2), next(iter(revised), None))


def _next_steps(board: Board) -> str:
    (version,) = {decision.bom_version for decision in board.decisions.values()}
    return f"""
Every record carries {version}: guidelines, rubrics, rules, model
and settings as one version.

Your own drafts   assay up                               (in one terminal)
                  assay publish examples/drafts.jsonl    (in another)
                  assay tail served --from-beginning
                  A draft is a line of JSON: item_id, text, context.instruction.
A week's report   assay report --example                 (made-up weeks)
Your own model    Copy boms/product-descriptions and bind an OpenAI-compatible
                  endpoint in its bindings.yaml; then
                  assay bom seal FOLDER
                  export ASSAY_BOM=FOLDER ASSAY_MODEL_BASE_URL=http://host/v1
                  assay up
Your own Kafka    export ASSAY_KAFKA=host:9092 ASSAY_REDIS=redis://host
                  assay topics create
                  assay up"""


def _document(board: Board, took_s: float) -> dict[str, Any]:
    strata = board.strata()
    return {
        "items": board.items,
        **{str(decision): strata[decision] for _, decision, _ in _ROWS},
        "dead_lettered": board.dead_letters,
        "drafts_judged": board.attempts,
        "model_calls": board.model_calls,
        "second_pass": {"drafts": board.second_pass, "cached_verdicts": board.cached_verdicts},
        "proved": {claim.name: {"checked": claim.checked, "contradicted": len(claim.broken)} for claim in board.claims},
        "seconds": round(took_s, 1),
    }
