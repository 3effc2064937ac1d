"""CloudEvents 1.0 in Kafka binary mode, and the W3C trace context that travels with every record of an item."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from schemas.message import Message

_Header = tuple[str, bytes | None]
Headers = tuple[_Header, ...]

CE_ID, CE_TYPE, CE_SOURCE = "ce_id", "ce_type", "ce_source"
TRACEPARENT, TRACESTATE = "traceparent", "tracestate"
MAX_EVENT_ID_CHARS = 128

_TRACEPARENT = re.compile(r"^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$")
_TRACESTATE_MAX = 512
_SPEC_VERSION: _Header = ("ce_specversion", b"1.0")
_CONTENT_TYPE: _Header = ("content-type", b"application/json")


class Trace(NamedTuple):
    """W3C trace context. Passed on as it came; a record without a valid one gets none invented."""

    traceparent: str | None = None
    tracestate: str | None = None


NO_TRACE = Trace()


def header(headers: Iterable[tuple[str, bytes | None]], name: str) -> str | None:
    """A header as text: None when absent, null, or not UTF-8. The last one of a name counts."""
    found: str | None = None
    for key, raw in headers:
        if key == name and raw is not None:
            try:
                found = raw.decode("utf-8")
            except UnicodeDecodeError:
                found = None
    return found


def trace_of(headers: Headers) -> Trace:
    """The record's trace context; what is not valid is dropped."""
    parent = header(headers, TRACEPARENT)
    if parent is None or not _TRACEPARENT.match(parent):
        return Trace()
    state = header(headers, TRACESTATE)
    return Trace(parent, state if state is not None and len(state) <= _TRACESTATE_MAX else None)


def event_id_of(headers: Headers) -> str | None:
    """The record's ``ce_id`` where it has a usable one."""
    given = header(headers, CE_ID)
    return given if given and len(given) <= MAX_EVENT_ID_CHARS and given.isprintable() else None


def headers_for(message: Message, *, event_id: str, source: str, at: datetime, trace: Trace = NO_TRACE) -> Headers:
    """The headers of one record of ours."""
    rows: Headers = (
        _SPEC_VERSION,
        (CE_ID, event_id.encode()),
        (CE_TYPE, message.ce_type.encode()),
        (CE_SOURCE, source.encode()),
        _time(at),
        ("ce_subject", message.key().encode()),
        _CONTENT_TYPE,
    )
    return rows + _passed_on(trace) if trace.traceparent is not None else rows


@lru_cache(maxsize=1)  # what one record leads to is of one moment
def _time(at: datetime) -> _Header:
    return ("ce_time", at.isoformat().encode())


def _passed_on(trace: Trace) -> Headers:
    rows = zip((TRACEPARENT, TRACESTATE), trace, strict=True)
    return tuple((name, value.encode()) for name, value in rows if value is not None)
