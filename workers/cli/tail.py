"""``assay tail``: follow a topic."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import Annotated

import typer

from schemas.errors import SettingsError
from schemas.topics import METRICS, TOPICS
from workers.cli.context import clear_errors, cluster_settings
from workers.cli.output import console, notes
from workers.cli.showing import headline, json_line, lines
from workers.cli.tail_metrics import tail_metrics
from workers.runtime.connection import connection
from workers.runtime.nearest import did_you_mean
from workers.runtime.reading import follow, read_to_end
from workers.runtime.records import InRecord
from workers.runtime.settings import Settings


def register(app: typer.Typer) -> None:
    app.command()(tail)


def tail(
    topic: Annotated[
        str | None, typer.Argument(help="Name as in `assay topics`: drafts, verdicts, served, ...")
    ] = None,
    metrics: Annotated[bool, typer.Option("--metrics", help="The week's figures as a table, and each news.")] = False,
    from_beginning: Annotated[bool, typer.Option("--from-beginning", help="Everything there is, then follow.")] = False,
    to_end: Annotated[bool, typer.Option("--to-end", help="Everything there is, then stop.")] = False,
    item: Annotated[str | None, typer.Option(help="Only records with this key.")] = None,
    limit: Annotated[int | None, typer.Option("--max", min=1, help="Stop after so many records.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line, for pipes.")] = False,
) -> None:
    """Follow a topic from now on; Ctrl-C ends it. Reading disturbs no worker."""
    with clear_errors(), contextlib.suppress(KeyboardInterrupt):
        if (topic is None) is not metrics:
            raise SettingsError("name one topic, or give --metrics; `assay topics` lists the topics")
        settings = cluster_settings()
        if topic is None:
            kafka, name = connection(settings), settings.topic_prefix + METRICS.name
            asyncio.run(tail_metrics(kafka, name, to_end=to_end, limit=limit, as_json=as_json))
            return
        name = settings.topic_prefix + bare_name(topic, settings.topic_prefix)
        if not to_end:
            notes.print(f"following {name}; Ctrl-C ends", highlight=False, style="dim")
        asyncio.run(
            _show(settings, name, from_beginning=from_beginning, to_end=to_end, item=item, limit=limit, as_json=as_json)
        )


def bare_name(topic: str, prefix: str) -> str:
    """A topic's name without prefix. Raises SettingsError that names the nearest where one is near."""
    names = [row.name for row in TOPICS]
    bare = topic.removeprefix(prefix)
    if bare not in names:
        raise SettingsError(f"no topic {topic!r}{did_you_mean(bare, names) or ';'} `assay topics` lists them")
    return bare


async def _show(
    settings: Settings, name: str, *, from_beginning: bool, to_end: bool, item: str | None, limit: int | None,
    as_json: bool,
) -> None:  # fmt: skip
    kafka = connection(settings)
    records = read_to_end(kafka, [name]) if to_end else follow(kafka, [name], from_beginning=from_beginning)
    key = None if item is None else item.encode()
    shown = 0
    async with contextlib.aclosing(records):
        async for record in records:
            if key is not None and record.key != key:
                continue
            _print(record, prefix=settings.topic_prefix, as_json=as_json)
            shown += 1
            if shown == limit:
                return


def _print(record: InRecord, *, prefix: str, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json_line(record) + "\n")
        sys.stdout.flush()
        return
    console.print(headline(record, prefix=prefix), style="bold", markup=False, highlight=False, soft_wrap=True)
    for line in lines(record):
        console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True, emoji=False)
