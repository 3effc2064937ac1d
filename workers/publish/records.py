"""A draft as the record that a producer writes."""

from __future__ import annotations

from datetime import datetime

from schemas.codec import encode
from schemas.drafts import Draft
from schemas.headers import NO_TRACE, Trace, headers_for
from workers.runtime.naming import Names
from workers.runtime.records import OutRecord


def draft_record(draft: Draft, names: Names, *, source: str, at: datetime, trace: Trace = NO_TRACE) -> OutRecord:
    """Keyed by its item, with its own event id: publishing the same draft twice is one event."""
    topic = names.of(draft)
    headers = headers_for(draft, event_id=draft.default_event_id(topic), source=source, at=at, trace=trace)
    return OutRecord(topic, draft.key().encode(), encode(draft), headers)
