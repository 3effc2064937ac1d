"""Send dead letters back to the topic they came from, once each, and record it.

The record goes to its original topic and partition with its original key, value and headers, so its event id is the
same and what was decided already is not decided twice. Then a mark is written behind the dead letter. A crash between
the two repeats one record under its own event id; the other order would lose it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing, asynccontextmanager
from datetime import datetime
from typing import Any, NamedTuple

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from schemas.dead_letter import Replayed, original_headers
from schemas.errors import DependencyUnavailable
from schemas.topics import DEAD_LETTERS
from workers.dead_letters.register import Entry, Place, Register
from workers.runtime.connection import Connection
from workers.runtime.dead_letters import NULL_VALUE
from workers.runtime.naming import Names
from workers.runtime.reading import Gone, read_at, read_to_end
from workers.runtime.records import InRecord

_REQUEST_BYTES = 64 * 1024 * 1024


class Order(NamedTuple):
    """Who replays, why and when; ``again`` also sends what went back before."""

    operator: str
    reason: str
    at: datetime
    again: bool = False


class Outcome(NamedTuple):
    """What became of one dead letter. ``refused`` None = it went back."""

    entry: Entry
    refused: str | None


async def read_register(kafka: Connection, names: Names) -> Register:
    """Every dead letter there is. Raises DependencyUnavailable."""
    register = Register()
    async for record in read_to_end(kafka, [names.full(DEAD_LETTERS)]):
        register.add(record)
    return register


async def replay(
    kafka: Connection, names: Names, entries: Iterable[Entry], order: Order
) -> AsyncGenerator[Outcome, None]:
    """Send each back and mark it, in one reading of the topic; an outcome for each.

    Raises DependencyUnavailable; what was yielded before has been done.
    """
    going: dict[Place, Entry] = {}
    for entry in entries:
        if (refused := why_not(entry, names, again=order.again)) is not None:
            yield Outcome(entry, refused)
        else:
            going[entry.place] = entry
    async with _producer(kafka) as producer, aclosing(read_to_end(kafka, [names.full(DEAD_LETTERS)])) as records:
        while going and (record := await anext(records, None)) is not None:
            entry_here = going.pop(Place(record.partition, record.offset), None)
            if entry_here is not None:
                yield Outcome(entry_here, await _send_back(kafka, producer, entry_here, record, order))
    for left in going.values():
        yield Outcome(left, "retention has removed it meanwhile")


def why_not(entry: Entry, names: Names, *, again: bool) -> str | None:
    """Why a dead letter is not sent back, or None."""
    if entry.replays and not again:
        last = entry.replays[-1]
        return f"went back on {last.at} by {last.operator}; --again sends it once more"
    topic = names.topic(entry.letter.topic)
    if topic is None or topic is DEAD_LETTERS:
        return f"its topic {entry.letter.topic} is none of ours under prefix {names.prefix!r}"
    return None


async def _send_back(kafka: Connection, producer: Any, entry: Entry, stored: InRecord, order: Order) -> str | None:
    """The original record, then the mark; why not, where Kafka or the record refuses."""
    original = await _original(kafka, entry, stored)
    if isinstance(original, str):
        return original
    letter = entry.letter
    try:
        if letter.partition not in await producer.partitions_for(letter.topic):
            return f"{letter.topic} has no partition {letter.partition}"
        # The original partition, not the one of our own hash: other producers may hash keys otherwise.
        await producer.send_and_wait(
            letter.topic, original.value, key=original.key, partition=letter.partition,
            headers=list(original_headers(original.headers)),
        )  # fmt: skip
    except KafkaError as error:
        if error.retriable:
            raise
        return f"Kafka refuses it: {error}"
    mark = Replayed(entry.place.offset, order.operator, order.reason, order.at.isoformat())
    await producer.send_and_wait(
        stored.topic, b"", key=entry.key, partition=entry.place.partition, headers=list(mark.to_headers())
    )
    return None


async def _original(kafka: Connection, entry: Entry, stored: InRecord) -> InRecord | str:
    """The record as it was; a pointer is followed to where the record still lies."""
    if any(name == NULL_VALUE for name, _ in stored.headers):
        return "it had neither key nor value; no client can write such a record"
    if not entry.letter.pointer:
        return stored
    found = await read_at(kafka, entry.letter.topic, entry.letter.partition, entry.letter.offset)
    return str(found) if isinstance(found, Gone) else found


@asynccontextmanager
async def _producer(kafka: Connection) -> AsyncIterator[Any]:
    producer = AIOKafkaProducer(**kafka.options(), acks="all", enable_idempotence=True, max_request_size=_REQUEST_BYTES)
    try:
        await producer.start()
        yield producer
    except KafkaError as error:
        raise DependencyUnavailable(f"cannot write to Kafka at {','.join(kafka.servers)}: {error}") from error
    finally:
        await producer.stop()
