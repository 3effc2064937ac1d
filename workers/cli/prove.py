"""``assay prove``: from the topics alone, does every draft have one fate, and every served text a judge's pass?"""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.table import Table
from rich.text import Text

from workers.cli.context import clear_errors, cluster_settings
from workers.cli.output import Exit, console, counted, fail, notes, print_json
from workers.proof.claims import Claim, claims, withdrawals
from workers.proof.gather import Gathered, gather
from workers.proof.ledger import Ledger
from workers.runtime.connection import connection
from workers.runtime.naming import Names
from workers.runtime.printable import cut, escaped
from workers.runtime.settings import Settings

_LINE_CHARS = 240


def register(app: typer.Typer) -> None:
    app.command()(prove)


def prove(
    show: Annotated[int, typer.Option(help="How many contradictions to list for each claim.", min=0)] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Prove from the topics alone that every draft has one fate, every round one decision, every served text a pass.

    Reads drafts, telemetry, served and dead letters whole; no worker is disturbed. Exit code 1: something contradicts.
    """
    with clear_errors():
        gathered = asyncio.run(_gathered(cluster_settings()))
    ledger = gathered.ledger
    if not ledger.published_ms and not ledger.attempts and not ledger.shown:
        fail("no draft is on record: there is nothing to prove", Exit.FOUND)
    found = claims(ledger, gathered.kept, now=datetime.now(UTC))
    if as_json:
        print_json(document(ledger, found, show=show))
    else:
        console.print(render(ledger, found, show=show))
    if any(claim.broken for claim in found) or ledger.unreadable:
        raise typer.Exit(int(Exit.FOUND))


async def _gathered(settings: Settings) -> Gathered:
    with notes.status("reading the topics") as status:
        return await gather(
            connection(settings), Names(settings.topic_prefix), group=f"{settings.group_prefix}judge",
            read=lambda n: status.update(f"reading the topics: {counted(n, 'record')}"),
        )  # fmt: skip


def document(ledger: Ledger, found: list[Claim], *, show: int) -> dict[str, Any]:
    """What ``--json`` prints."""
    return {
        "holds": not any(claim.broken for claim in found) and not ledger.unreadable,
        "claims": [
            {
                "claim": claim.name, "statement": claim.statement, "checked": claim.checked,
                "contradicted": len(claim.broken), "contradictions": claim.broken[:show],
                "not_checked": dict(claim.not_checked),
            }
            for claim in found
        ],
        "bom_versions": {version: _version(ledger, version) for version in sorted(ledger.excerpts)},
        "withdrawn": [w.model_dump(mode="json") for w in withdrawals(ledger)],
        "unreadable_records": dict(ledger.unreadable),
    }  # fmt: skip


def _version(ledger: Ledger, version: str) -> dict[str, Any]:
    decisions = (d for of in ledger.decisions.values() for d in of.values() if d.bom_version == version)
    return {
        "judges": ledger.excerpts[version].judge_models,
        "attempts": sum(attempt.bom_version == version for attempt in ledger.attempts.values()),
        "verdicts": dict(ledger.labels[version]),
        "decisions": dict(Counter(str(decided.decision) for decided in decisions)),
    }


def render(ledger: Ledger, found: list[Claim], *, show: int) -> Group:
    """For people; every name in it is other people's text."""
    table = Table(box=None, pad_edge=False)
    for column, justify in (("claim", "left"), ("checked", "right"), ("contradicted", "right"), ("", "left")):
        table.add_column(column, justify=justify)  # type: ignore[arg-type]
    for claim in found:
        style = "red" if claim.broken else "green" if claim.checked else "yellow"
        table.add_row(claim.name, f"{claim.checked:,}", Text(f"{len(claim.broken):,}", style=style), claim.statement)
    lines = [line for claim in found for line in _beside(claim, show)]
    return Group(table, Text(), *lines, *_versions(ledger), *_closing(ledger, found))


def _beside(claim: Claim, show: int) -> list[Text]:
    lines = [_line(f"{claim.name}: {one}", "red") for one in claim.broken[:show]]
    if more := len(claim.broken) - show:
        lines += [_line(f"{claim.name}: {counted(more, 'more contradiction')}", "red")] if more > 0 else []
    return lines + [_line(f"{claim.name}: {n:,} not checked: {why}") for why, n in claim.not_checked.items()]


def _versions(ledger: Ledger) -> list[Text]:
    lines = []
    for version in sorted(ledger.excerpts):
        of = _version(ledger, version)
        said = ", ".join(f"{n:,} {label}" for label, n in sorted(of["verdicts"].items()))
        decided = ", ".join(f"{n:,} {decision}" for decision, n in sorted(of["decisions"].items()))
        lines.append(
            _line(f"{version}: {counted(of['attempts'], 'attempt')}; verdicts {said}; rounds {decided or '-'}")
        )
    return lines


def _closing(ledger: Ledger, found: list[Claim]) -> list[Text]:
    gone = [
        _line(f"withdrawn: item {w.item_id!r} by {w.operator}, {w.withdrawn_at:%F %T} UTC: {w.reason}")
        for w in withdrawals(ledger)
    ]
    lost = [_line(f"{topic}: {counted(n, 'record')} cannot be read", "red") for topic, n in ledger.unreadable.items()]
    broken = sum(len(claim.broken) for claim in found)
    verdict = "Every claim holds." if not broken and not lost else f"{counted(broken, 'contradiction')}."
    return [*gone, *lost, Text(verdict, style="bold red" if broken or lost else "bold green")]


def _line(text: str, style: str = "") -> Text:
    return Text(cut(escaped(text), _LINE_CHARS), style=style)
