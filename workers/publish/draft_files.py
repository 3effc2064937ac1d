"""Lines of JSONL or CSV to drafts. Each line is a draft or a problem that names line, field and remedy. Pure."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from schemas.codec import decode
from schemas.drafts import Draft
from schemas.errors import BadMessage
from schemas.topics import DRAFTS
from workers.publish.ignored_fields import METADATA, Ignored, ignored_in

COLUMNS = ("item_id", "text", "rival", "instruction", "constraints", "metadata", "generator_model", "slices")
"""Columns of a CSV. ``metadata`` is JSON of the target item; ``slices`` and ``constraints`` are separated by ``;``."""

_NEEDED = frozenset({"item_id", "text", "instruction"})
_MAX_FIELD_CHARS = 2_000_000
_TOLD = 5


class Found(NamedTuple):
    """A draft, and what its line holds that nobody reads."""

    line: int
    draft: Draft
    ignored: frozenset[Ignored]


class Problem(NamedTuple):
    """Why a line was not published."""

    line: int
    what: str


def from_jsonl(lines: Iterable[bytes]) -> Iterator[Found | Problem]:
    """One draft a line; blank lines are passed over."""
    for number, line in enumerate(lines, 1):
        if raw := line.strip():
            draft = _draft(raw)
            yield Problem(number, draft) if isinstance(draft, str) else Found(number, draft, ignored_in(raw))


def from_csv(lines: Iterable[bytes]) -> Iterator[Found | Problem]:
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


def refused(found: Found) -> Problem:
    """A line as a problem for what it holds that nobody reads."""
    told = sorted(one.told() for one in found.ignored)
    left = [f"and {len(told) - _TOLD} more"] if len(told) > _TOLD else []
    return Problem(found.line, "; ".join([*told[:_TOLD], *left]))


def _header_problem(names: Sequence[str]) -> str | None:
    given = set(names)
    if len(given) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        return f"column {twice[:40]!r} is given twice"
    if unknown := sorted(given - set(COLUMNS)):
        return f"unknown column {unknown[0][:40]!r}; columns are {', '.join(COLUMNS)}"
    if missing := sorted(_NEEDED - given):
        return f"column {missing[0]!r} is missing; needed are {', '.join(sorted(_NEEDED))}"
    return None


def _from_row(number: int, row: dict[str, str]) -> Found | Problem:
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
    draft = _draft(json.dumps(document).encode())
    if isinstance(draft, str):
        return Problem(number, draft)
    return Found(number, draft, ignored_in(row.get("metadata") or "{}", at=METADATA))


def _list(cell: str | None) -> list[str]:
    return [part.strip() for part in (cell or "").split(";") if part.strip()]


def _draft(raw: bytes) -> Draft | str:
    """The draft, or why it is none."""
    try:
        message = decode(DRAFTS, raw).message
    except BadMessage as error:
        return str(error)
    assert isinstance(message, Draft)
    if message.attempt > 0 and message.revises is None:
        return "bad_attempt: drafts.revises: an attempt above 0 quotes the request it answers"
    return message
