"""``assay topics``: the one topics table, for people, for a cluster, and as documents."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
import yaml
from rich.table import Table

from schemas.asyncapi import asyncapi, json_schemas
from schemas.topics import TOPICS, Topic
from workers.cli.context import clear_errors, settings_of
from workers.cli.output import Exit, console, notes, print_json
from workers.runtime.connection import connection
from workers.runtime.settings import Settings
from workers.runtime.topic_admin import copies, topic_admin
from workers.runtime.topic_plan import Action, Alter, Create, Refuse, plan, wanted

topics_app = typer.Typer(name="topics", help="Show, create and document the topics.", invoke_without_command=True)

AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


def register(app: typer.Typer) -> None:
    app.add_typer(topics_app)


@topics_app.callback()
def topics(
    context: typer.Context,
    as_json: AsJson = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="The README's table.")] = False,
) -> None:
    """Show every topic: what it carries, who writes and reads it, how long it is kept."""
    if markdown:
        typer.echo(markdown_table())
    elif context.invoked_subcommand is None:
        list_topics(as_json)


@topics_app.command(name="list")
def list_topics(as_json: AsJson = False) -> None:
    """Show every topic: what it carries, who writes and reads it, how long it is kept."""
    with clear_errors():
        prefix = settings_of().topic_prefix
    if as_json:
        print_json([_row(topic, prefix) for topic in TOPICS])
        return
    table = Table(title=f"topics (prefix {prefix})", title_justify="left", show_lines=True)
    table.add_column("topic", no_wrap=True)
    for column in ("carries", "written by -> read by", "kept"):
        table.add_column(column)
    for topic in TOPICS:
        messages = ", ".join(message.__name__ for message in topic.messages) or "any bytes"
        kept_in = f"{kept(topic)}\n{topic.partitions} partition{'s' * (topic.partitions > 1)}"
        table.add_row(topic.name, f"{messages}\n{topic.meaning}", f"{topic.written_by}\n-> {topic.read_by}", kept_in)
    console.print(table)


@topics_app.command()
def create(
    replication: Annotated[
        int | None, typer.Option(min=1, max=32, help="Copies of each new topic; default: 3, or 1 below three brokers.")
    ] = None,
    partitions: Annotated[
        int | None, typer.Option(min=1, max=10_000, help="Partitions of topics that have several; default: the table.")
    ] = None,
    shrink: Annotated[
        bool, typer.Option("--shrink", help="Also make changes that take records away (shorter retention).")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, change nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Create the topics on the cluster of ASSAY_KAFKA and mend their configs. Twice does nothing the second time.

    Exit code 1: a difference was refused; the line says why.
    """
    with clear_errors():
        actions = asyncio.run(
            _create(settings_of(), replication=replication, partitions=partitions, shrink=shrink, dry_run=dry_run)
        )
    _say(actions, dry_run=dry_run, as_json=as_json)
    if any(isinstance(action, Refuse) for action in actions):
        raise typer.Exit(Exit.FOUND)


@topics_app.command()
def schema(folder: Annotated[Path, typer.Argument(help="Where to write; made when it is not there.")]) -> None:
    """Write schemas/<type>.json (JSON Schema, one a message) and asyncapi.yaml (AsyncAPI 3) into a folder."""
    with clear_errors():
        prefix = settings_of().topic_prefix
    schemas = folder / "schemas"
    schemas.mkdir(parents=True, exist_ok=True)
    for name, document in json_schemas().items():
        (schemas / f"{name}.json").write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
    (folder / "asyncapi.yaml").write_text(
        yaml.safe_dump(asyncapi(prefix=prefix), sort_keys=False, width=120), encoding="utf-8"
    )
    notes.print(f"wrote {len(json_schemas())} JSON Schemas and asyncapi.yaml into {folder}", highlight=False)


def markdown_table() -> str:
    """The topics table of the README."""
    lines = ["| topic | carries | written by | read by | kept |", "|---|---|---|---|---|"]
    for topic in TOPICS:
        messages = ", ".join(f"`{message.__name__}`" for message in topic.messages) or "any bytes"
        lines.append(
            f"| `{topic.name}` | {messages}: {topic.meaning} | {topic.written_by} | {topic.read_by} | {kept(topic)} |"
        )
    return "\n".join(lines)


def kept(topic: Topic) -> str:
    """How long records are kept, in words."""
    if topic.compacted:
        return "newest of each key"
    return "for ever" if topic.retention_days is None else f"{topic.retention_days} days"


async def _create(
    settings: Settings, *, replication: int | None, partitions: int | None, shrink: bool, dry_run: bool
) -> Sequence[Action]:
    largest = settings.max_message_bytes
    topics = [wanted(row, settings.topic_prefix, partitions=partitions, max_message_bytes=largest) for row in TOPICS]
    async with topic_admin(connection(settings)) as admin:
        number = copies(replication, brokers=await admin.brokers())
        existing = await admin.existing(topic.name for topic in topics)
        actions = plan(topics, existing, replication=number, shrink=shrink)
        if not dry_run:
            await admin.apply(actions)
    return actions


def _say(actions: Sequence[Action], *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        print_json({"dry_run": dry_run, "actions": [_document(action) for action in actions]})
        return
    for action in actions:
        console.print(str(action), style="red" if isinstance(action, Refuse) else None, markup=False, highlight=False)
    if not actions:
        console.print(f"all {len(TOPICS)} topics are as the table wants them", highlight=False)
    elif dry_run:
        notes.print("nothing was changed (--dry-run)")


def _document(action: Action) -> dict[str, Any]:
    match action:
        case Create():
            return {"action": "create", **action._asdict()}
        case Alter(topic, changes, _):
            return {"action": "alter", "topic": topic, "changes": [change._asdict() for change in changes]}
        case Refuse():
            return {"action": "refuse", **action._asdict()}


def _row(topic: Topic, prefix: str) -> dict[str, Any]:
    return {
        **topic._asdict(),
        "full_name": prefix + topic.name,
        "messages": [message.__name__ for message in topic.messages],
    }
