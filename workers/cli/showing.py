"""Records for people and for pipes. Bytes of a record are hostile: nothing in them may steer a terminal."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, NoReturn

from schemas.headers import Headers
from schemas.verdicts import CriterionVerdict, Vote
from workers.runtime.printable import cut, escaped
from workers.runtime.records import InRecord

_FIELD_CHARS = 200
_LINE_CHARS = 400


def shown_bytes(raw: bytes | None, *, limit: int = _FIELD_CHARS) -> str:
    """Bytes as escaped text, cut; what is not UTF-8 as ``\\xff``."""
    if raw is None:
        return "(null)"
    # Only what can be shown is decoded: a record may have megabytes.
    shown = escaped(raw[: limit * 4].decode("utf-8", "backslashreplace"))[:limit]
    left = len(raw) - limit * 4 if len(raw) > limit * 4 else 0
    return f"{shown}… ({len(raw)} bytes in all)" if left or len(raw) > len(shown.encode()) else shown


def excerpt(text: str, *, lines: int, whole: str) -> str:
    """The first and the last lines of a long text, each cut; ``whole`` says how to see what is left out."""
    all_lines = text.split("\n")
    left = len(all_lines) - lines
    shown = [cut(line, _LINE_CHARS) for line in (all_lines if left <= 1 else all_lines[: lines // 2])]
    if left > 1:
        shown.append(f"… {left} more lines; {whole}")
        shown += [cut(line, _LINE_CHARS) for line in all_lines[-(lines - lines // 2) :]]
    return "\n".join(shown)


def headline(record: InRecord, *, prefix: str) -> str:
    """When, where and which key: ``2026-11-30 12:00:00  drafts/3@15  sku-1``."""
    topic = record.topic.removeprefix(prefix)
    when = "" if record.timestamp_ms is None else f"{_time(record.timestamp_ms):%Y-%m-%d %H:%M:%S}  "
    return f"{when}{topic}/{record.partition}@{record.offset}  {shown_bytes(record.key, limit=128)}"


def lines(record: InRecord) -> Iterable[str]:
    """The value, one escaped and cut line a field; one line where it is no JSON object."""
    value = _parsed(record.value)
    if not isinstance(value, dict):
        yield shown_bytes(record.value)
        return
    for name, field in value.items():
        text = field if isinstance(field, str) else json.dumps(field, ensure_ascii=False)
        yield f"{escaped(cut(name, 64))}: {cut(escaped(text[: 4 * _FIELD_CHARS]), _FIELD_CHARS)}"


def json_line(record: InRecord) -> str:
    """The record as one line of ASCII JSON. ``value`` is its JSON; what is none is in ``value_base64``."""
    value = _parsed(record.value)
    return json.dumps(
        {
            "topic": record.topic,
            "partition": record.partition,
            "offset": record.offset,
            "timestamp": None if record.timestamp_ms is None else _time(record.timestamp_ms).isoformat(),
            "key": None if record.key is None else record.key.decode("utf-8", "backslashreplace"),
            "headers": headers_shown(record.headers),
            "value": value,
            **({} if value is not None or record.value is None else {"value_base64": _base64(record.value)}),
        }
    )


def headers_shown(headers: Headers) -> list[list[str | None]]:
    """Headers as pairs of text, in their order; what is not UTF-8 as ``\\xff``."""
    return [[name, None if value is None else value.decode("utf-8", "backslashreplace")] for name, value in headers]


def _parsed(raw: bytes | None) -> Any:
    try:
        return json.loads(raw, parse_constant=_no_constant) if raw else None
    except (ValueError, RecursionError):
        return None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _time(timestamp_ms: int) -> datetime:
    # Whoever produced the record chose its timestamp: any 64-bit number.
    bounded = min(max(timestamp_ms, 0), 253_402_300_799_000)
    return datetime.fromtimestamp(bounded / 1000, UTC)


def told_vote(vote: Vote) -> str:
    """One of several judges' words, for people."""
    said = " ".join(filter(None, (vote.label, measure_of(vote), f"({vote.cause})" if vote.cause else "")))
    return f"{vote.name}: {said}{', cached' if vote.cached else ''}  [{vote.judge}]"


def measure_of(one: CriterionVerdict | Vote) -> str:
    """What a label was made from: a score or a preference, or nothing."""
    if one.score is not None:
        return f"score {one.score}"
    return f"prefers {one.preference}" if one.preference is not None else ""
