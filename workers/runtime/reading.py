"""Read topics without a group: for people, for state that is read whole, for one record by its coordinates.

Nothing here commits anything or disturbs a worker. Records of one partition come in their order; partitions mix.
Whoever stops before the end wraps the generator in ``contextlib.aclosing``: it holds a connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from aiokafka import AIOKafkaClient, AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from schemas.errors import DependencyUnavailable
from workers.runtime.connection import Connection, no_kafka
from workers.runtime.records import InRecord, from_kafka

_FETCH_BYTES = 8 * 1024 * 1024  # above the largest record of any of our topics
_POLL_MS = 250


class Gone(NamedTuple):
    """A record that is not there, and why, in words for a person."""

    uri: str
    why: str

    def __str__(self) -> str:
        return f"{self.uri} is not there: {self.why}"


async def read_to_end(
    kafka: Connection, topics: Iterable[str], *, timeout_s: float = 30.0
) -> AsyncGenerator[InRecord, None]:
    """Every record from the beginning to where the topics end now. ``topics`` are full names.

    Raises DependencyUnavailable when Kafka does not answer, a topic is missing, or nothing comes for ``timeout_s``.
    """
    async with _consumer(kafka) as consumer:
        partitions = await partitions_of(kafka, topics)
        ends: dict[TopicPartition, int] = await consumer.end_offsets(partitions)
        beginnings: dict[TopicPartition, int] = await consumer.beginning_offsets(partitions)
        left = {partition: end for partition, end in ends.items() if end > beginnings[partition]}
        consumer.assign(list(left))
        for partition in left:
            consumer.seek(partition, beginnings[partition])
        while left:
            async with _patience(timeout_s, left):
                records = await _more(consumer, left)
            for record in records:
                if record.offset < ends[TopicPartition(record.topic, record.partition)]:
                    yield record
            # The position, not the last record: what ends a partition may be compacted away or a transaction's marker.
            left = {partition: end for partition, end in left.items() if await consumer.position(partition) < end}


async def follow(
    kafka: Connection, topics: Iterable[str], *, from_beginning: bool = False
) -> AsyncGenerator[InRecord, None]:
    """Every record from now on (or from the beginning), for ever. ``topics`` are full names.

    Raises DependencyUnavailable when Kafka does not answer at the start or a topic is missing.
    """
    async with _consumer(kafka) as consumer:
        partitions = await partitions_of(kafka, topics)
        offsets = await (consumer.beginning_offsets if from_beginning else consumer.end_offsets)(partitions)
        consumer.assign(partitions)
        for partition, offset in offsets.items():
            consumer.seek(partition, offset)
        while True:
            for record in await _poll(consumer):
                yield record


async def read_at(
    kafka: Connection, topic: str, partition: int, offset: int, *, timeout_s: float = 10.0
) -> InRecord | Gone:
    """The record at these coordinates (full topic name), or why it is gone.

    Raises DependencyUnavailable when Kafka does not answer or the topic is missing.
    """
    where = TopicPartition(topic, partition)
    uri = f"kafka://{topic}/{partition}/{offset}"
    async with _consumer(kafka) as consumer:
        if where not in await partitions_of(kafka, [topic]):
            return Gone(uri, "the topic has no such partition")
        beginning = (await consumer.beginning_offsets([where]))[where]
        end = (await consumer.end_offsets([where]))[where]
        if offset < beginning:
            return Gone(uri, f"retention has removed it; the partition begins at offset {beginning}")
        if offset >= end:
            return Gone(uri, f"nothing has been written there; the partition ends before offset {end}")
        consumer.assign([where])
        consumer.seek(where, offset)
        async with _patience(timeout_s, {where: end}):
            records = await _more(consumer, {where: end})
        if not records or records[0].offset != offset:
            return Gone(uri, "compaction has removed it, a newer record has its key")
        return records[0]


async def beginnings(kafka: Connection, topics: Iterable[str]) -> dict[TopicPartition, int]:
    """The oldest offset that each partition of these topics (full names) keeps. Raises DependencyUnavailable."""
    async with _consumer(kafka) as consumer:
        found: dict[TopicPartition, int] = await consumer.beginning_offsets(await partitions_of(kafka, topics))
        return found


async def committed_by(kafka: Connection, group: str, topic: str) -> dict[int, int]:
    """What a group has finished of a topic (full name): partition -> committed offset, where there is one.

    Asks the coordinator and joins nothing. Raises DependencyUnavailable when Kafka does not answer.
    """
    partitions = await partitions_of(kafka, [topic])
    client = AIOKafkaAdminClient(**kafka.options())
    try:
        await client.start()
        found = await client.list_consumer_group_offsets(group, partitions=partitions)
    except KafkaError as error:
        raise DependencyUnavailable(no_kafka(kafka, error)) from error
    finally:
        await client.close()
    return {partition.partition: at.offset for partition, at in found.items() if at.offset >= 0}


@asynccontextmanager
async def _consumer(kafka: Connection) -> AsyncIterator[Any]:
    consumer = AIOKafkaConsumer(
        **kafka.options(),
        enable_auto_commit=False,
        auto_offset_reset="earliest",  # records that retention removes while we read are not an error
        isolation_level="read_committed",  # a producer may use transactions; what it took back was never said
        fetch_max_wait_ms=20,
        max_partition_fetch_bytes=_FETCH_BYTES,
    )
    try:
        await consumer.start()
        yield consumer
    except KafkaError as error:
        raise DependencyUnavailable(no_kafka(kafka, error)) from error
    finally:
        await consumer.stop()


async def partitions_of(kafka: Connection, topics: Iterable[str]) -> list[TopicPartition]:
    """Every partition of these topics (full names). Raises DependencyUnavailable when one does not exist."""
    # A consumer's own metadata begins with the topics it was given, and asking it for others may create them.
    client = AIOKafkaClient(**kafka.options())
    try:
        await client.bootstrap()
        metadata = await client.fetch_all_metadata()
    finally:
        await client.close()
    wanted = sorted(set(topics))
    missing = sorted(set(wanted) - metadata.topics())
    if missing:
        raise DependencyUnavailable(f"topic {', '.join(missing)} does not exist; `assay topics create` makes it")
    return [TopicPartition(name, number) for name in wanted for number in sorted(metadata.partitions_for_topic(name))]


async def _more(consumer: Any, ends: Mapping[TopicPartition, int]) -> list[InRecord]:
    """The next records; nothing only when every partition has come to its end."""
    while not (records := await _poll(consumer)):
        if all([await consumer.position(partition) >= end for partition, end in ends.items()]):
            break
    return records


async def _poll(consumer: Any) -> list[InRecord]:
    found = await consumer.getmany(timeout_ms=_POLL_MS, max_records=500)
    return [from_kafka(record) for records in found.values() for record in records]


@asynccontextmanager
async def _patience(timeout_s: float, waiting_for: Iterable[TopicPartition]) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(timeout_s):
            yield
    except TimeoutError as error:
        names = ", ".join(sorted({partition.topic for partition in waiting_for}))
        raise DependencyUnavailable(f"Kafka has sent nothing of {names} for {timeout_s:g} s") from error
