"""``assay dlq``: dead letters, and their way back."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Annotated, NamedTuple

import typer

from schemas.dead_letter import DeadLetter
from schemas.errors import SettingsError
from schemas.topics import DEAD_LETTERS
from workers.cli.context import clear_errors, cluster_settings
from workers.cli.dlq_view import (
    entry_document,
    group_document,
    letter_document,
    letter_lines,
    table_of_each,
    table_of_groups,
)
from workers.cli.output import Exit, console, notes, print_json
from workers.cli.tail import bare_name
from workers.dead_letters.register import Chosen, Entry, Place, groups
from workers.dead_letters.replay import Order, Outcome, read_register, replay, why_not
from workers.runtime.connection import Connection, connection
from workers.runtime.naming import Names
from workers.runtime.printable import escaped
from workers.runtime.reading import Gone, read_at

dlq_app = typer.Typer(name="dlq", help="List, show and replay dead letters.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
Kind = Annotated[str | None, typer.Option(help="Only this kind of error, as `dlq list` shows it.")]
FromTopic = Annotated[str | None, typer.Option("--topic", help="Only records that came from this topic.")]
Item = Annotated[str | None, typer.Option(help="Only records with this key.")]
_TIMES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]
Since = Annotated[datetime | None, typer.Option(help="Only letters written since then, UTC.", formats=_TIMES)]


class Cluster(NamedTuple):
    kafka: Connection
    names: Names


def register(app: typer.Typer) -> None:
    app.add_typer(dlq_app)


@dlq_app.command(name="list")
def list_letters(
    kind: Kind = None, topic: FromTopic = None, item: Item = None, since: Since = None,
    each: Annotated[bool, typer.Option("--each", help="One line a dead letter, with its place.")] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Count dead letters by kind and original topic, or list each."""
    with clear_errors():
        cluster = _cluster()
        entries = asyncio.run(_entries(cluster, _chosen(cluster, kind, topic, item, since)))
    if as_json:
        print_json(
            [entry_document(entry) for entry in entries]
            if each
            else [group_document(group) for group in groups(entries)]
        )
    elif not entries:
        notes.print("no dead letters")
    else:
        console.print(table_of_each(entries) if each else table_of_groups(groups(entries)))


@dlq_app.command()
def show(
    place: Annotated[str, typer.Argument(help="PARTITION@OFFSET, as `dlq list --each` shows.")],
    size: Annotated[int, typer.Option("--chars", min=1, help="Show at most so many characters of the value.")] = 2000,
    as_json: AsJson = False,
) -> None:
    """Show one dead letter: where it came from, why, its headers and the beginning of its bytes."""
    with clear_errors():
        cluster = _cluster()
        at = _place(place)
        found = asyncio.run(read_at(cluster.kafka, cluster.names.full(DEAD_LETTERS), *at))
        if isinstance(found, Gone):
            raise SettingsError(str(found))
        letter = DeadLetter.from_headers(found.headers)
        if letter is None:
            raise SettingsError(f"{found.uri} is no dead letter")
    if as_json:
        print_json(letter_document(found, letter, size))
        return
    for line in letter_lines(found, letter, size):
        console.print(line, markup=False, highlight=False, soft_wrap=True, emoji=False)


@dlq_app.command(name="replay")
def replay_letters(
    places: Annotated[list[str] | None, typer.Argument(help="PARTITION@OFFSET of each, or options below.")] = None,
    kind: Kind = None, topic: FromTopic = None, item: Item = None, since: Since = None,
    every: Annotated[bool, typer.Option("--all", help="Every dead letter there is.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Also those that went back before.")] = False,
    reason: Annotated[str, typer.Option(help="Why; kept with the record of the replay.")] = "",
    operator: Annotated[str | None, typer.Option(help="Who; default: the user of this machine.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would go back, send nothing.")] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Send dead letters back to the topic they came from, with their headers, once each.

    Mend the cause first. Exit code 1: some were refused; the lines say why.
    """
    with clear_errors():
        cluster = _cluster()
        which = _chosen(cluster, kind, topic, item, since)
        if places:
            which = which._replace(places=frozenset(map(_place, places)))
        if which.everything and not every:
            raise SettingsError("say which: places, --kind, --topic, --item, --since, or --all")
        order = Order(operator or getpass.getuser(), reason, datetime.now(UTC), again)
        outcomes = asyncio.run(_replay(cluster, which, order, dry_run=dry_run))
    _tell(outcomes, dry_run=dry_run, as_json=as_json)
    if any(outcome.refused for outcome in outcomes):
        raise typer.Exit(Exit.FOUND)


def _cluster() -> Cluster:
    settings = cluster_settings()
    return Cluster(connection(settings), Names(settings.topic_prefix))


def _chosen(cluster: Cluster, kind: str | None, topic: str | None, item: str | None, since: datetime | None) -> Chosen:
    prefix = cluster.names.prefix
    full = None if topic is None else prefix + bare_name(topic, prefix)
    return Chosen(kind, full, item, None if since is None else since.replace(tzinfo=UTC))


def _place(text: str) -> Place:
    try:
        return Place.parse(text)
    except ValueError as error:
        raise SettingsError(str(error)) from error


async def _entries(cluster: Cluster, which: Chosen) -> Sequence[Entry]:
    return (await read_register(*cluster)).chosen(which)


async def _replay(cluster: Cluster, which: Chosen, order: Order, *, dry_run: bool) -> Sequence[Outcome]:
    entries = await _entries(cluster, which)
    missing = (which.places or frozenset()).difference(*(entry.places for entry in entries))
    if missing:
        raise SettingsError(f"no such dead letter: {', '.join(map(str, sorted(missing)))}")
    if dry_run:
        return [Outcome(entry, why_not(entry, cluster.names, again=order.again)) for entry in entries]
    async with aclosing(replay(*cluster, entries, order)) as outcomes:
        with notes.status(f"sending {len(entries)} dead letters back"):
            return [outcome async for outcome in outcomes]


def _tell(outcomes: Sequence[Outcome], *, dry_run: bool, as_json: bool) -> None:
    went = sum(outcome.refused is None for outcome in outcomes)
    if as_json:
        rows = [{**entry_document(outcome.entry), "refused": outcome.refused} for outcome in outcomes]
        print_json({"dry_run": dry_run, "replayed": went, "refused": len(outcomes) - went, "letters": rows})
        return
    for outcome in outcomes:
        if outcome.refused is not None:
            line = f"refused {outcome.entry.place}: {escaped(outcome.refused)}"
            console.print(line, style="red", markup=False, highlight=False, soft_wrap=True, emoji=False)
    verb = "would go back" if dry_run else "went back"
    console.print(f"{went} {verb}, {len(outcomes) - went} refused", highlight=False)
