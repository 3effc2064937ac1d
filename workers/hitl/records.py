"""Tasks, samples and labels on their topics: reading them all, reading one draft, publishing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from datetime import datetime

from schemas.codec import decode, encode
from schemas.drafts import Draft
from schemas.errors import BadMessage
from schemas.headers import CE_TYPE, header, headers_for
from schemas.ids import event_id
from schemas.labels import HumanLabel
from schemas.message import Emitted, Message
from schemas.topics import DRAFTS, Topic
from workers.hitl.seeking import Sought
from workers.runtime.connection import Connection
from workers.runtime.naming import Names
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.reading import Gone, read_at, read_to_end
from workers.runtime.records import OutRecord

_AT_ONCE = 8
_BATCH = 200


async def messages_of(
    kafka: Connection, names: Names, *topics: Topic, keys: Collection[bytes] | None = None
) -> AsyncIterator[Message]:
    """Every readable message that the topics hold now, of these record keys (None: of all).

    Raises DependencyUnavailable.
    """
    async for record in read_to_end(kafka, [names.full(topic) for topic in topics]):
        topic = names.topic(record.topic)
        if topic is None or (keys is not None and record.key not in keys):
            continue
        try:
            yield decode(topic, record.value, ce_type=header(record.headers, CE_TYPE)).message
        except BadMessage:
            continue  # whoever reads for a living dead-letters it


async def drafts_of(kafka: Connection, names: Names, sought: Sequence[Sought]) -> list[Draft | Gone]:
    """The drafts that are sought, in their order; or why one is gone. Raises DependencyUnavailable."""
    room = asyncio.Semaphore(_AT_ONCE)

    async def one(wanted: Sought) -> Draft | Gone:
        async with room:
            return await _draft(kafka, names, wanted)

    return list(await asyncio.gather(*map(one, sought)))


async def publish(
    kafka: Connection, names: Names, messages: Sequence[Message], *, max_bytes: int, at: datetime
) -> None:
    """Write all, confirmed, in their order."""
    producer = ConfirmedProducer(kafka, max_message_bytes=max_bytes)
    await producer.start()
    try:
        records = [_record(message, names, at=at) for message in messages]
        for start in range(0, len(records), _BATCH):
            await producer.produce(records[start : start + _BATCH])
    finally:
        await producer.stop()


async def _draft(kafka: Connection, names: Names, wanted: Sought) -> Draft | Gone:
    uri = wanted.draft_uri
    topic, _, place = uri.removeprefix("kafka://").partition("/")
    partition, _, offset = place.partition("/")
    if topic != names.full(DRAFTS) or not (partition.isdigit() and offset.isdigit()):
        return Gone(uri[:200], f"it names no record of {names.full(DRAFTS)}")
    record = await read_at(kafka, topic, int(partition), int(offset))
    if isinstance(record, Gone):
        return record
    try:
        draft = decode(DRAFTS, record.value, ce_type=header(record.headers, CE_TYPE)).message
    except BadMessage:
        return Gone(uri, "the record there is no draft")
    if not isinstance(draft, Draft) or draft.judged_sha256 != wanted.judged_sha256:
        return Gone(uri, "the record there is another draft than the one that was judged")
    return draft


def _record(message: Message, names: Names, *, at: datetime) -> OutRecord:
    given = message.event_id if isinstance(message, Emitted) else label_event_id(message)
    headers = headers_for(message, event_id=given, source="/assay/hitl", at=at)
    return OutRecord(names.of(message), message.key().encode(), encode(message), headers)


def label_event_id(message: Message) -> str:
    """A label's id: the same vote of the same rater in the same version is one event."""
    assert isinstance(message, HumanLabel)
    m = message
    return event_id("human_label", m.task_id, m.criterion_id, m.rater_id, m.stage, m.version)
