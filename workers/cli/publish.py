"""``assay publish``: drafts from a file or a pipe to the drafts topic."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from schemas.drafts import Draft
from schemas.topics import DRAFTS
from workers.cli.context import clear_errors, cluster_settings
from workers.cli.output import Exit, console, counted, fail, notes, print_json
from workers.publish.draft_files import Problem, from_csv, from_jsonl
from workers.publish.records import draft_record
from workers.runtime.connection import check, connection
from workers.runtime.naming import Names
from workers.runtime.printable import escaped
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.settings import Settings

_BATCH = 500
_SHOWN = 20


class Format(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"


def register(app: typer.Typer) -> None:
    app.command()(publish)


def publish(
    file: Annotated[str, typer.Argument(help="JSONL or CSV of drafts; - for standard input.")],
    as_format: Annotated[Format | None, typer.Option("--format", help="Default: by the file's ending.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Publish drafts. A line that is no draft is refused with its number and field; the others are published."""
    kind = as_format or (Format.CSV if file.lower().endswith(".csv") else Format.JSONL)
    problems: list[Problem] = []
    with clear_errors(), _opened(file) as stream:
        found = from_csv(stream) if kind is Format.CSV else from_jsonl(stream)
        published = asyncio.run(_publish(_drafts(found, problems), cluster_settings()))
    if as_json:
        print_json({"published": published, "refused": [problem._asdict() for problem in problems]})
    else:
        _show(published, problems)
    if problems:
        raise typer.Exit(int(Exit.FOUND))


def _show(published: int, problems: list[Problem]) -> None:
    console.print(f"published {counted(published, 'draft')}", highlight=False)
    for problem in problems[:_SHOWN]:
        line = f"line {problem.line}: {escaped(problem.what)}"
        notes.print(line, style="red", markup=False, highlight=False, soft_wrap=True)
    if len(problems) > _SHOWN:
        notes.print(f"... and {counted(len(problems) - _SHOWN, 'more line')}", style="red", highlight=False)
    if not published and not problems:
        notes.print("there was no line to publish", style="yellow")


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        stream = Path(file).open("rb")  # noqa: SIM115 - closed below
    except OSError as error:
        fail(f"{file} cannot be read: {error.strerror}")
    with stream:
        yield stream


def _drafts(found: Iterable[tuple[int, Draft] | Problem], problems: list[Problem]) -> Iterator[Draft]:
    for one in found:
        if isinstance(one, Problem):
            problems.append(one)
        else:
            yield one[1]


async def _publish(drafts: Iterator[Draft], settings: Settings) -> int:
    kafka, names = connection(settings), Names(settings.topic_prefix)
    await check(kafka, [names.full(DRAFTS)])
    producer = ConfirmedProducer(kafka, max_message_bytes=settings.max_message_bytes)
    await producer.start()
    published = 0
    try:
        while batch := list(islice(drafts, _BATCH)):
            at = datetime.now(UTC)
            await producer.produce([draft_record(draft, names, source="/assay/publish", at=at) for draft in batch])
            published += len(batch)
    finally:
        await producer.stop()
    return published
