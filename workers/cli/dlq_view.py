"""How dead letters are shown: their headers and bytes are hostile, so every cell is escaped, cut and free of markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from schemas.dead_letter import DeadLetter, original_headers
from workers.cli.showing import headers_shown, shown_bytes
from workers.dead_letters.register import Entry, Group, Place
from workers.runtime.printable import cut, escaped
from workers.runtime.records import InRecord

_CELL_CHARS = 120


def table_of_groups(rows: Sequence[Group]) -> Table:
    table = Table(title="dead letters", title_justify="left")
    for column in ("kind", "from topic", "letters", "replayed", "newest", "its place"):
        table.add_column(column)
    for row in rows:
        newest = row.newest
        _row(
            table,
            row.kind,
            row.topic,
            str(row.letters),
            str(row.replayed),
            _moment(newest.letter.at),
            str(newest.place),
        )
    return table


def table_of_each(entries: Sequence[Entry]) -> Table:
    table = Table(title="dead letters", title_justify="left")
    for column in ("place", "kind", "came from", "key", "error"):
        table.add_column(column, overflow="fold")
    for entry in entries:
        letter = entry.letter
        place = f"{entry.place}{' (replayed)' if entry.replays else ''}"
        origin = f"{letter.topic}/{letter.partition}@{letter.offset}"
        _row(table, place, letter.error_kind, origin, shown_bytes(entry.key, limit=40), letter.error)
    return table


def group_document(group: Group) -> dict[str, Any]:
    return {**group._asdict(), "newest": entry_document(group.newest)}


def letter_lines(record: InRecord, letter: DeadLetter, size: int) -> Iterable[str]:
    """Where it came from, why, its key, its own headers, and at most ``size`` characters of its value."""
    for name, value in letter._asdict().items():
        yield f"{name:<12} {escaped(str(value))}"
    yield f"{'key':<12} {shown_bytes(record.key)}"
    for header, text in headers_shown(original_headers(record.headers)):
        yield f"{'header':<12} {escaped(cut(str(header), 64))}: {cut(escaped(text or '(null)'), 200)}"
    yield f"{'value':<12} {shown_bytes(record.value, limit=size)}"


def entry_document(entry: Entry) -> dict[str, Any]:
    return {
        "place": str(entry.place),
        "key": None if entry.key is None else entry.key.decode("utf-8", "backslashreplace"),
        "bytes": entry.size,
        **entry.letter._asdict(),
        "replays": [mark._asdict() for mark in entry.replays],
        "repeats": [str(place) for place in entry.repeats],
    }


def letter_document(record: InRecord, letter: DeadLetter, size: int) -> dict[str, Any]:
    return {
        "place": str(Place(record.partition, record.offset)),
        **letter._asdict(),
        "key": shown_bytes(record.key),
        "headers": headers_shown(original_headers(record.headers)),
        "value": shown_bytes(record.value, limit=size),
        "bytes": len(record.value or b""),
    }


def _moment(at: str) -> str:
    """An ISO time without year and fractions: narrow enough to be read whole."""
    return f"{at[5:10]} {at[11:19]}"


def _row(table: Table, *cells: str) -> None:
    # Text, not str: what a record says must not be taken for markup.
    table.add_row(*(Text(cut(escaped(cell), _CELL_CHARS)) for cell in cells))
