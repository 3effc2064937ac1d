"""Replays verdicts that were recorded elsewhere, as replies that keep today's contract. The parser stays strict."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import accumulate
from typing import Any, NamedTuple

import orjson

from schemas.drafts import Draft
from schemas.errors import BomError, ModelError
from schemas.verdict_space import Cause, Flag, Label
from schemas.verdicts import MAX_REASON_CHARS, MAX_SPAN_CHARS, MAX_SPANS
from workers.judge.protocols import Question, Reply

RECORDING_ROLE = "recording"
"""The context item that names a draft's row: ``{"role": "recording", "metadata": {"record": item_id}}``."""

NO_REASON = "The recorded judge gave no reason."

_MAX_QUOTED_CHARS = 24_000
_LABELS = {str(label) for label in Label} - {str(Label.NOT_IMPLEMENTED)}


class RecordedVerdict(NamedTuple):
    """What one judge said of one draft. ``label`` None = it gave no decision."""

    label: str | None
    reason: str | None
    spans: tuple[str, ...]


class RecordedModel:
    """Answers with one recorded judge's verdict on the draft's row; abstains (not_recorded) where there is none."""

    def __init__(self, verdicts: Mapping[str, RecordedVerdict], *, judge: str, clause: str) -> None:
        self._verdicts, self._judge, self._clause = verdicts, judge, clause

    async def ask(self, question: Question, *, deadline: float) -> Reply:
        record = record_of(question.draft)
        if record is None:
            raise ModelError(Cause.NOT_RECORDED, f"the draft has no context item of role {RECORDING_ROLE}")
        verdict = self._verdicts.get(record)
        if verdict is None or verdict.label is None:
            raise ModelError(Cause.NOT_RECORDED, "the recorded judge gave no label for this draft")
        reply, flags = contractual(verdict, question.draft.text, clause=self._clause)
        return Reply(json.dumps(reply, ensure_ascii=False), finish_reason="stop", model=self._judge, flags=flags)

    async def close(self) -> None:
        return None


def record_of(draft: Draft) -> str | None:
    """The row of the recording that a draft was taken from."""
    for item in draft.context.items:
        if item.role == RECORDING_ROLE and isinstance(item.metadata, dict):
            record = item.metadata.get("record")
            return record if isinstance(record, str) else None
    return None


def contractual(verdict: RecordedVerdict, text: str, *, clause: str) -> tuple[dict[str, Any], tuple[Flag, ...]]:
    """The reply object, and flags for what had to be made up or cut: a recording need not have kept our contract.

    A fail without spans gets the draft as its span, up to the longest span there may be.
    """
    reason, flags = verdict.reason or NO_REASON, []
    if len(reason) > MAX_REASON_CHARS:
        reason = reason[:MAX_REASON_CHARS]
        flags.append(Flag.REASON_CUT)
    reply: dict[str, Any] = {"label": verdict.label, "reason": reason}
    if verdict.label == Label.FAIL:
        spans = list(verdict.spans)
        if not spans:
            spans = [text.strip()[:MAX_SPAN_CHARS]]
            flags.append(Flag.SPAN_INVENTED)
        reply |= {"evidence_spans": spans, "guideline_clause": clause}
    return reply, tuple(flags)


def read_recording(name: str, raw: bytes, *, judge: str) -> Mapping[str, RecordedVerdict]:
    """One judge's verdicts by row id, out of JSONL rows with ``item_id`` and ``judges[{model, label, reason, spans}]``.

    The rest of a row is not kept. A row that names the judge twice counts with the first. Raises BomError with the line
    of what cannot be read, and for a judge that no row has, with the names there are.
    """
    return {row: _verdict(place, said) for place, row, said in rows_of(name, raw, judge=judge)}


def rows_of(name: str, raw: bytes, *, judge: str) -> list[tuple[str, str, Mapping[str, Any]]]:
    """Place, row id and what the judge said, of each row that has the judge; of two rows with one id, the first."""
    found: dict[str, tuple[str, str, Mapping[str, Any]]] = {}
    judges: dict[str, None] = {}
    for number, line in enumerate(raw.splitlines(), 1):
        if not line.strip():
            continue
        place = f"{name}, line {number}"
        row = _row(place, line)
        for said in row["judges"]:
            judges.setdefault(said["model"])
            if said["model"] == judge:
                found.setdefault(row["item_id"], (place, row["item_id"], said))
    if judge not in judges:
        raise BomError(f"{name}: no judge {judge!r} is recorded; there are: {', '.join(judges) or 'none'}")
    return list(found.values())


def _row(place: str, line: bytes) -> dict[str, Any]:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise BomError(f"{place}: not JSON") from error
    if not isinstance(row, dict) or not isinstance(row.get("item_id"), str):
        raise BomError(f"{place}: item_id: a row is an object with a string item_id")
    judges = row.setdefault("judges", [])
    if not isinstance(judges, list) or not all(isinstance(j, dict) and isinstance(j.get("model"), str) for j in judges):
        raise BomError(f"{place}: judges: a list of objects with a string model is needed")
    return row


def _verdict(place: str, said: Mapping[str, Any]) -> RecordedVerdict:
    label, reason, spans = said.get("label"), said.get("reason"), said.get("spans")
    if label is not None and (not isinstance(label, str) or label not in _LABELS):
        raise BomError(f"{place}: judges.label: {label!r:.40} is not pass, fail or null")
    return RecordedVerdict(
        label,
        reason if isinstance(reason, str) and reason.strip() else None,
        _quotes(spans) if isinstance(spans, list) else (),
    )


def _quotes(spans: list[Any]) -> tuple[str, ...]:
    """The texts of spans, each and all together bounded: a reply has a size limit too."""
    said = (span.get("text") if isinstance(span, dict) else span for span in spans)
    texts = [text[:MAX_SPAN_CHARS] for text in said if isinstance(text, str) and text[:MAX_SPAN_CHARS].strip()]
    sizes = accumulate(len(text) for text in texts)
    return tuple(text for text, size in zip(texts[:MAX_SPANS], sizes, strict=False) if size <= _MAX_QUOTED_CHARS)
