"""Lines of JSONL or CSV to drafts. Each line is a draft or a problem that names line, field and remedy. Pure."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from schemas.codec import decode
from schemas.drafts import Draft
from schemas.errors import BadMessage
from schemas.topics import DRAFTS

COLUMNS = ("item_id", "text", "rival", "instruction", "constraints", "metadata", "generator_model", "slices")
"""Columns of a CSV. ``metadata`` is JSON of the target item; ``slices`` and ``constraints`` are separated by ``;``."""

_NEEDED = frozenset({"item_id", "text", "instruction"})
_MAX_FIELD_CHARS = 2_000_000


class Problem(NamedTuple):
    """Why a line was not published."""

    line: int
    what: str


def from_jsonl(lines: Iterable[bytes]) -> Iterator[tuple[int, Draft] | Problem]:
    """One draft a line; blank lines are passed over."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _draft(number, line.strip())


def from_csv(lines: Iterable[bytes]) -> Iterator[tuple[int, Draft] | Problem]:
    """One draft a row, named by the header row. A wrong header is the only problem reported then."""
    csv.field_size_limit(_MAX_FIELD_CHARS)
    reader = csv.DictReader(line.decode("utf-8-sig", "replace") for line in lines)
    try:
        if problem := _header_problem(reader.fieldnames or ()):
            yield Problem(1, problem)
            return
        for row in reader:
            yield _from_row(reader.line_num, row)
    except csv.Error as error:
        yield Problem(reader.line_num, f"not CSV: {error}")


def _header_problem(names: Iterable[str]) -> str | None:
    given = set(names)
    if unknown := sorted(given - set(COLUMNS)):
        return f"unknown column {unknown[0][:40]!r}; columns are {', '.join(COLUMNS)}"
    if missing := sorted(_NEEDED - given):
        return f"column {missing[0]!r} is missing; needed are {', '.join(sorted(_NEEDED))}"
    return None


def _from_row(number: int, row: dict[str, str]) -> tuple[int, Draft] | Problem:
    if None in row or None in row.values():
        return Problem(number, "the row has another number of fields than the header")
    context: dict[str, object] = {"instruction": row["instruction"], "constraints": _list(row.get("constraints"))}
    if row.get("metadata"):
        try:
            context["items"] = [{"role": "target", "metadata": json.loads(row["metadata"])}]
        except (ValueError, RecursionError):
            return Problem(number, "metadata: not JSON; give the item's data as one JSON object")
    document: dict[str, object] = {"item_id": row["item_id"], "text": row["text"], "context": context}
    document |= {"rival": row.get("rival") or None, "generator_model": row.get("generator_model") or None}
    document["slices"] = _list(row.get("slices"))
    return _draft(number, json.dumps(document).encode())


def _list(cell: str | None) -> list[str]:
    return [part.strip() for part in (cell or "").split(";") if part.strip()]


def _draft(number: int, raw: bytes) -> tuple[int, Draft] | Problem:
    try:
        message = decode(DRAFTS, raw).message
    except BadMessage as error:
        return Problem(number, str(error))
    assert isinstance(message, Draft)
    if message.attempt > 0 and message.revises is None:
        return Problem(number, "bad_attempt: drafts.revises: an attempt above 0 quotes the request it answers")
    return number, message
