"""Reads whole topics from where the counts end: no group, the offsets are saved with the counts."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import TopicPartition
from aiokafka.errors import KafkaError

from schemas.errors import DependencyUnavailable, FatalError
from workers.runtime.careful_consumer import CarefulConsumer
from workers.runtime.connection import Connection
from workers.runtime.logs import event
from workers.runtime.reading import partitions_of
from workers.runtime.records import InRecord, from_kafka

Offsets = dict[tuple[str, int], int]
"""(full topic name, partition) -> the next offset to read."""

Batches = dict[tuple[str, int], list[InRecord]]
"""(full topic name, partition) -> its next records, at least one."""


class Reader:
    """``next`` is where each partition is read on; it moves when records are handed out."""

    def __init__(self, consumer: CarefulConsumer, offsets: Offsets, ends: Offsets) -> None:
        self._consumer, self._ends = consumer, ends
        self.next = offsets

    async def poll(self, *, most: int, timeout_ms: int) -> Batches:
        try:
            found = await self._consumer.getmany(timeout_ms=timeout_ms, max_records=most)
        except KafkaError as error:
            if self._consumer.broken is not None:
                raise self._consumer.broken from error
            raise DependencyUnavailable(f"cannot read from Kafka: {error}") from error
        batches = {(tp.topic, tp.partition): list(map(from_kafka, records)) for tp, records in found.items() if records}
        self.next |= {at: records[-1].offset + 1 for at, records in batches.items()}
        return batches

    @property
    def caught_up(self) -> bool:
        """Whether everything that was there at the start has been read: before, weeks only look empty."""
        return all(self.next[partition] >= end for partition, end in self._ends.items())

    def lag(self) -> dict[str, int]:
        """Records in Kafka not yet read, by topic."""
        lag: dict[str, int] = {}
        for (topic, partition), offset in self.next.items():
            end = self._consumer.highwater(TopicPartition(topic, partition)) or offset
            lag[topic] = lag.get(topic, 0) + max(0, end - offset)
        return lag


@asynccontextmanager
async def reading(
    kafka: Connection, topics: Sequence[str], stored: Mapping[tuple[str, int], int]
) -> AsyncIterator[Reader]:
    """Every partition of the topics, from the stored offset or from the beginning."""
    consumer: Any = CarefulConsumer(
        **kafka.options(), enable_auto_commit=False, auto_offset_reset="earliest", fetch_max_wait_ms=20,
        isolation_level="read_committed", max_partition_fetch_bytes=8 * 1024 * 1024,
    )  # fmt: skip
    try:
        await consumer.start()
        partitions = await partitions_of(kafka, topics)
        begins, ends = await consumer.beginning_offsets(partitions), await consumer.end_offsets(partitions)
        consumer.assign(partitions)
        start = {tp: _start(tp, stored, begins[tp], ends[tp]) for tp in partitions}
        for tp, offset in start.items():
            consumer.seek(tp, offset)
        reachable = {(tp.topic, tp.partition): ends[tp] for tp in partitions}
        yield Reader(consumer, {(tp.topic, tp.partition): offset for tp, offset in start.items()}, reachable)
    except KafkaError as error:
        raise DependencyUnavailable(f"cannot read from Kafka at {','.join(kafka.servers)}: {error}") from error
    finally:
        await consumer.stop()


def _start(tp: TopicPartition, stored: Mapping[tuple[str, int], int], begin: int, end: int) -> int:
    offset = stored.get((tp.topic, tp.partition), begin)
    if offset > end:
        raise FatalError(
            f"{tp.topic}/{tp.partition} ends before offset {offset}, which was counted: this is another Kafka or "
            "another topic; delete the counts in Redis to count it from its beginning"
        )
    if offset < begin:
        event("uncounted", level=logging.WARNING, topic=tp.topic, partition=tp.partition, records=begin - offset)
    return max(offset, begin)
