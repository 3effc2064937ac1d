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
from typing import Annotated, Any, BinaryIO

import typer

from schemas.drafts import Draft
from schemas.topics import DRAFTS
from workers.cli.context import clear_errors, cluster_settings
from workers.cli.output import Exit, console, counted, fail, notes, print_json
from workers.publish.draft_files import Found, Problem, from_csv, from_jsonl, refused
from workers.publish.ignored_fields import Tally, nearest_field
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
    strict: Annotated[bool, typer.Option("--strict", help="Refuse lines with unknown fields, or one twice.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Publish drafts. A line that is no draft is refused with its number and field; the others are published.

    Fields that no draft has are not published: each is told of once.
    """
    kind = as_format or (Format.CSV if file.lower().endswith(".csv") else Format.JSONL)
    problems: list[Problem] = []
    tally = Tally()
    with clear_errors(), _opened(file) as stream:
        found = from_csv(stream) if kind is Format.CSV else from_jsonl(stream)
        published = asyncio.run(_publish(_drafts(found, problems, tally, strict=strict), cluster_settings()))
    if as_json:
        print_json(_document(published, problems, tally))
    else:
        _show(published, problems)
        _warn(tally)
    if problems:
        raise typer.Exit(int(Exit.FOUND))


def _document(published: int, problems: list[Problem], tally: Tally) -> dict[str, Any]:
    return {
        "published": published,
        "refused": [problem._asdict() for problem in problems],
        "ignored": [
            {"field": one.field, "why": one.why, "nearest": nearest_field(one.field), "drafts": drafts}
            for one, drafts in tally.drafts.most_common()
        ],
    }


def _warn(tally: Tally) -> None:
    """What was published without some of its fields."""
    told = [f"{one.told()} ({counted(drafts, 'draft')})" for one, drafts in tally.drafts.most_common(_SHOWN)]
    if (left := len(tally.drafts) - _SHOWN) > 0 or tally.others:
        told.append(f"... and {'at least ' if tally.others else ''}{counted(left, 'more field')}")
    if told:
        told.append("--strict refuses such lines")
    for line in told:
        notes.print(line, style="yellow", markup=False, highlight=False, soft_wrap=True)


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


def _drafts(
    found: Iterable[Found | Problem], problems: list[Problem], tally: Tally, *, strict: bool
) -> Iterator[Draft]:
    for one in found:
        if isinstance(one, Problem):
            problems.append(one)
        elif strict and one.ignored:
            problems.append(refused(one))
        else:
            tally.add(one.ignored)
            yield one.draft


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
