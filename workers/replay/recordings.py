"""Files of recorded drafts: rows in, items of ordered drafts out. Pure.

A row holds ``item_id, task_context, source, draft, raters[{label}], judges[{model, label}], meta``. Rows with the same
``meta.source_ref`` are one item; the drafts of the generators, in the order given, are its attempts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from schemas.drafts import Context, ContextItem

RECORDING_ROLE = "recording"
"""The context item that says which row of the recording a draft is."""


class RecordingError(ValueError):
    """A recording that cannot be replayed: says file, line, field and remedy."""


class HumanLabel(StrEnum):
    PASS = "pass"  # noqa: S105 - a label, not a password
    FAIL = "fail"
    UNDECIDED = "undecided"


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Rater(_Row):
    label: HumanLabel | None = None


class _Judge(_Row):
    model: str
    label: str | None = None


class _Meta(_Row):
    generator: str | None = None
    source_ref: str | None = None
    draft_ref: str | None = None


class Row(_Row):
    """One recorded draft."""

    item_id: str = Field(min_length=1)
    task_context: str | None = None
    source: str | None = None
    draft: str | None = None
    raters: tuple[_Rater, ...] = ()
    judges: tuple[_Judge, ...] = ()
    meta: _Meta = _Meta()

    @property
    def item(self) -> str:
        return self.meta.source_ref or self.item_id

    @property
    def human_label(self) -> HumanLabel:
        """The strict majority of the raters who labelled; a tie, or no label, is undecided."""
        labels = [rater.label for rater in self.raters if rater.label in (HumanLabel.PASS, HumanLabel.FAIL)]
        fails = labels.count(HumanLabel.FAIL)
        if 2 * fails == len(labels):
            return HumanLabel.UNDECIDED
        return HumanLabel.FAIL if 2 * fails > len(labels) else HumanLabel.PASS


class RecordedDraft(NamedTuple):
    record: str
    generator: str | None
    text: str
    context: Context
    human_label: HumanLabel


class RecordedItem(NamedTuple):
    """An item and its drafts: position = attempt."""

    item_id: str
    drafts: tuple[RecordedDraft, ...]


class SideTexts(NamedTuple):
    """Texts that rows point to: ``source_ref`` -> source, ``draft_ref`` -> draft."""

    sources: Mapping[str, str]
    drafts: Mapping[str, str]


def read_rows(name: str, lines: Iterable[str]) -> list[Row]:
    """The rows of a recording. Raises RecordingError naming the line and the field."""
    rows: list[Row] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                rows.append(Row.model_validate_json(line))
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                field = ".".join(str(part) for part in first["loc"]) or "row"
                raise RecordingError(f"{name}, line {number}: {field}: {first['msg']}") from None
    if not rows:
        raise RecordingError(f"{name} holds no rows; one JSON object a line is needed")
    return rows


def read_side_texts(named_lines: Iterable[tuple[str, Iterable[str]]]) -> SideTexts:
    """The texts of all ``--sources`` files together. Raises RecordingError naming the line."""
    sources: dict[str, str] = {}
    drafts: dict[str, str] = {}
    for name, lines in named_lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                row = _object(name, number, line)
                for ref, text, into in (("source_ref", "source", sources), ("draft_ref", "draft", drafts)):
                    if isinstance(row.get(ref), str) and isinstance(row.get(text), str):
                        into[row[ref]] = row[text]
    return SideTexts(sources, drafts)


def _object(name: str, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"{name}, line {number}: not JSON ({type(error).__name__})") from None
    if not isinstance(row, dict):
        raise RecordingError(f"{name}, line {number}: a JSON object is needed, not {type(row).__name__}")
    return row


def generators_of(rows: Iterable[Row]) -> tuple[str, ...]:
    """Every generator, in the order of first appearance."""
    return tuple(dict.fromkeys(row.meta.generator for row in rows if row.meta.generator is not None))


def judges_of(rows: Iterable[Row]) -> tuple[str, ...]:
    """Every recorded judge, in the order of first appearance."""
    return tuple(dict.fromkeys(judge.model for row in rows for judge in row.judges))


def items_of(rows: Sequence[Row], texts: SideTexts, *, order: Sequence[str] = ()) -> list[RecordedItem]:
    """Items in the order of first appearance; an item none of whose drafts is in the order is left out.

    ``order`` names generators: an item's attempt is the position among those present. Without it, every generator
    counts in order of appearance. A generator that drafted one item twice counts with its first draft.

    Raises RecordingError for a generator that no row has, and for a draft whose text is nowhere.
    """
    if unknown := [name for name in order if name not in generators_of(rows)]:
        known = ", ".join(generators_of(rows)) or "none"
        raise RecordingError(f"--order: no draft is by {unknown[0]!r}; the recording has: {known}")
    by_item: dict[str, dict[str | None, Row]] = {}
    for row in rows:
        by_item.setdefault(row.item, {}).setdefault(row.meta.generator, row)
    items = []
    for item_id, drafts in by_item.items():
        chosen = [drafts[name] for name in order if name in drafts] if order else list(drafts.values())
        if chosen:
            items.append(RecordedItem(item_id, tuple(_draft(row, texts) for row in chosen)))
    if not items:
        raise RecordingError("no item has a draft to replay")
    return items


def _draft(row: Row, texts: SideTexts) -> RecordedDraft:
    text = row.draft if row.draft is not None else texts.drafts.get(row.meta.draft_ref or "")
    if text is None:
        raise RecordingError(
            f"the draft of {row.item_id!r} is not in the file; draft_ref {row.meta.draft_ref!r} is in no --sources file"
        )
    source = row.source if row.source is not None else texts.sources.get(row.meta.source_ref or "")
    items = [ContextItem(role=RECORDING_ROLE, metadata={"record": row.item_id})]
    if source is not None:
        items.append(ContextItem(role="target", metadata=_json_or_text(source)))
    context = Context(instruction=row.task_context or "Judge the recorded draft.", items=tuple(items))
    return RecordedDraft(row.item_id, row.meta.generator, text, context, row.human_label)


def _json_or_text(source: str) -> JsonValue:
    """A source that is a JSON object is metadata; any other text is a text."""
    try:
        document = json.loads(source)
    except (ValueError, RecursionError):
        return source
    return document if isinstance(document, dict) else source
