"""Reads what is proved from: the judge's committed offsets first, then four topics to where they end."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from schemas.codec import decode
from schemas.dead_letter import DeadLetter
from schemas.drafts import Draft
from schemas.errors import BadMessage
from schemas.headers import CE_TYPE, header
from schemas.message import Message
from schemas.topics import DEAD_LETTERS, DRAFTS, SERVED, TELEMETRY, Topic
from workers.proof.claims import Kept
from workers.proof.ledger import Ledger
from workers.runtime.connection import Connection
from workers.runtime.naming import Names
from workers.runtime.reading import beginnings, committed_by, read_to_end
from workers.runtime.records import InRecord

READ = (DRAFTS, TELEMETRY, SERVED, DEAD_LETTERS)


class Gathered(NamedTuple):
    ledger: Ledger
    kept: Kept


async def gather(kafka: Connection, names: Names, *, group: str, read: Callable[[int], None]) -> Gathered:
    """Everything on record. ``group`` is the judge's; ``read`` is told how many records have been read.

    Offsets come first: below a committed one every output was confirmed, so the topics must hold it by then. Disturbs
    no worker. Raises DependencyUnavailable when Kafka does not answer or a topic is missing.
    """
    drafts, telemetry = names.full(DRAFTS), names.full(TELEMETRY)
    done = await committed_by(kafka, group, drafts)
    first = await beginnings(kafka, [drafts, telemetry])
    kept = Kept(
        done,
        {at.partition: offset for at, offset in first.items() if at.topic == drafts},
        telemetry_cut=any(offset > 0 for at, offset in first.items() if at.topic == telemetry),
    )
    ledger = Ledger(drafts)
    n = 0
    async for record in read_to_end(kafka, [names.full(topic) for topic in READ]):
        if (topic := names.topic(record.topic)) is not None:
            enter(ledger, topic, record)
        n += 1
        if n % 1000 == 0:
            read(n)
    return Gathered(ledger, kept)


def enter(ledger: Ledger, topic: Topic, record: InRecord) -> None:
    """Put one record into the ledger. What cannot be read is counted, topic by topic."""
    if topic is DEAD_LETTERS:
        if (letter := DeadLetter.from_headers(record.headers)) is not None:
            ledger.dead_letter(letter)
        return
    message = _message(topic, record)
    if topic is DRAFTS:
        draft = message if isinstance(message, Draft) else None
        ledger.draft((record.partition, record.offset), draft, published_ms=record.timestamp_ms or 0)
    elif message is not None:
        ledger.add(message)
    elif topic is SERVED and record.value is None and record.key is not None:
        ledger.taken_away(record.key.decode("utf-8", "replace"))
    else:
        ledger.unreadable[topic.name] += 1


def _message(topic: Topic, record: InRecord) -> Message | None:
    try:
        return decode(topic, record.value, ce_type=header(record.headers, CE_TYPE)).message
    except BadMessage:
        return None
