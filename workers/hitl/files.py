"""Label files: rows out of JSONL, CSV or a Label Studio export, and open tasks into the same three. Pure."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any

from schemas.errors import SettingsError
from schemas.labels import LabelTask
from workers.hitl import label_studio
from workers.hitl.rows import COLUMNS, Problem, Row

_MAX_FIELD_CHARS = 2_000_000
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class FileFormat(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"
    LABEL_STUDIO = "label-studio"

    @classmethod
    def of(cls, file: str) -> FileFormat:
        """By the file's ending: .jsonl, .csv, .json (Label Studio). Raises SettingsError for another one."""
        known = {"csv": cls.CSV, "json": cls.LABEL_STUDIO, "jsonl": cls.JSONL}
        kind = known.get(file.rpartition(".")[2].lower())
        if kind is None:
            raise SettingsError(f"{file}: the ending says no format; end it in .jsonl, .csv or .json, or give --format")
        return kind


def read_rows(raw: bytes, kind: FileFormat) -> Iterator[Row | Problem]:
    """The rows of a file. Total: any bytes give rows and problems."""
    return _READERS[kind](raw)


def write_tasks(tasks: Sequence[LabelTask], kind: FileFormat) -> str:
    """Open tasks for a raters' tool. A CSV has a line for every criterion, with empty columns to fill in."""
    return _WRITERS[kind](tasks)


def _from_jsonl(raw: bytes) -> Iterator[Row | Problem]:
    for number, line in enumerate(raw.splitlines(), 1):
        if not line.strip():
            continue
        try:
            document = json.loads(line)
        except (ValueError, RecursionError):
            document = None
        if isinstance(document, dict):
            yield Row(f"line {number}", document)
        else:
            yield Problem(f"line {number}", "the line", "not a JSON object; write one label a line")


def _from_csv(raw: bytes) -> Iterator[Row | Problem]:
    csv.field_size_limit(_MAX_FIELD_CHARS)
    reader = csv.DictReader(io.StringIO(raw.decode("utf-8-sig", "replace"), newline=""))
    try:
        for row in reader:
            where = f"line {reader.line_num}"
            if None in row or None in row.values():
                yield Problem(where, "the row", "it has another number of fields than the header")
            else:
                yield Row(where, {name: row[name] for name in row if name not in _CONTEXT})
    except csv.Error as error:
        yield Problem(f"line {reader.line_num}", "the row", f"not CSV: {error}")


_CONTEXT = ("item_id", "text", "instruction", "constraints", "items")
"""Columns that an export has for the rater's eyes; on the way back they are passed over."""


def _to_jsonl(tasks: Sequence[LabelTask]) -> str:
    return "".join(task.model_dump_json() + "\n" for task in tasks)


def _to_csv(tasks: Sequence[LabelTask]) -> str:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, fieldnames=[*_CONTEXT, *COLUMNS], restval="", lineterminator="\n")
    writer.writeheader()
    for task in tasks:
        shown = {name: _tame(value) for name, value in shown_to_raters(task).items() if name in _CONTEXT}
        for criterion in task.criteria:
            given = {"guideline_version": task.guideline_version, "task_id": task.task_id, "criterion_id": criterion}
            writer.writerow({**shown, **given})
    return out.getvalue()


def shown_to_raters(task: LabelTask) -> dict[str, str]:
    """A task as plain texts."""
    items = [item.model_dump(mode="json") for item in task.context.items]
    return {
        "task_id": task.task_id,
        "item_id": task.item_id,
        "text": task.text,
        "instruction": task.context.instruction or "",
        "constraints": "\n".join(task.context.constraints),
        "items": json.dumps(items, ensure_ascii=False, indent=1),
        "guideline_version": task.guideline_version,
    }


def _tame(cell: str) -> str:
    # A spreadsheet runs a cell that begins like a formula, and drafts are strangers' words.
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _to_label_studio(tasks: Sequence[LabelTask]) -> str:
    documents: list[Any] = [{"data": shown_to_raters(task)} for task in tasks]
    return json.dumps(documents, ensure_ascii=False, indent=1) + "\n"


_READERS: dict[FileFormat, Callable[[bytes], Iterator[Row | Problem]]] = {
    FileFormat.JSONL: _from_jsonl,
    FileFormat.CSV: _from_csv,
    FileFormat.LABEL_STUDIO: label_studio.from_export,
}
_WRITERS: dict[FileFormat, Callable[[Sequence[LabelTask]], str]] = {
    FileFormat.JSONL: _to_jsonl,
    FileFormat.CSV: _to_csv,
    FileFormat.LABEL_STUDIO: _to_label_studio,
}


def criteria_of(tasks: Iterable[LabelTask]) -> tuple[str, ...]:
    """Every criterion that the tasks ask for, in their order."""
    return tuple(dict.fromkeys(criterion for task in tasks for criterion in task.criteria))
