"""The records of one item, read from the topics. Whoever keyed them, all partitions are read."""

from __future__ import annotations

from collections.abc import AsyncIterator

from schemas.codec import decode
from schemas.drafts import Draft
from schemas.errors import BadMessage
from schemas.headers import CE_TYPE, event_id_of, header
from schemas.message import Emitted
from schemas.topics import DRAFTS, HUMAN_QUEUE, REVISION_REQUESTS, SERVED, TELEMETRY, VERDICTS
from workers.runtime.connection import Connection
from workers.runtime.naming import Names
from workers.runtime.reading import read_to_end
from workers.runtime.records import InRecord
from workers.trace.story import Seen

TRACED = (DRAFTS, VERDICTS, REVISION_REQUESTS, SERVED, TELEMETRY, HUMAN_QUEUE)


async def records_of(kafka: Connection, names: Names, item_id: str) -> AsyncIterator[Seen]:
    """Every readable record keyed by the item. Raises DependencyUnavailable when a topic cannot be read."""
    key = item_id.encode()
    async for record in read_to_end(kafka, [names.full(topic) for topic in TRACED]):
        if record.key == key and (seen := seen_in(record, names)) is not None:
            yield seen


def seen_in(record: InRecord, names: Names) -> Seen | None:
    """A record as a message with its event id; None where it is none of ours."""
    topic = names.topic(record.topic)
    if topic is None or not topic.messages:
        return None
    try:
        message = decode(topic, record.value, ce_type=header(record.headers, CE_TYPE)).message
    except BadMessage:
        return None
    if isinstance(message, Emitted):
        return Seen(message, message.event_id, record.uri)
    if isinstance(message, Draft):
        return Seen(message, event_id_of(record.headers) or message.default_event_id(record.topic), record.uri)
    return None
