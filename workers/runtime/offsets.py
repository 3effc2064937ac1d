"""Membership of a consumer group as the pump needs it, around aiokafka's consumer.

The one file that reaches into aiokafka: ``AIOKafkaConsumer.committed`` returns the offset alone, and the metadata that
was committed with it is only to be had from the coordinator (0.14; a test fails when that changes).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple, Protocol

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import IllegalStateError, KafkaError
from aiokafka.structs import OffsetAndMetadata

from schemas.errors import FatalError
from workers.runtime.careful_consumer import CarefulConsumer

_NOT_AUTHORISED = {29, 30, 31}


class Committed(NamedTuple):
    """What the group committed for a partition."""

    offset: int
    metadata: str


class CommitRefused(Exception):
    """A commit did not pass; it comes again with the next one."""


class Membership(Protocol):
    """One consumer in its group."""

    def assigned(self) -> Collection[TopicPartition]: ...
    def paused(self) -> Collection[TopicPartition]: ...
    def pause(self, partitions: Collection[TopicPartition]) -> None: ...
    def resume(self, partitions: Collection[TopicPartition]) -> None: ...
    def end_of(self, partition: TopicPartition) -> int | None:
        """The offset after the last record Kafka is known to hold; None before the first fetch."""

    async def ends_now(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        """The same, asked of Kafka: of a paused partition nothing is fetched, and nothing is heard."""

    def broken(self) -> FatalError | None:
        """Why reading cannot go on; None while it can."""

    async def committed(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, Committed]: ...
    async def commit(self, points: Mapping[TopicPartition, Committed], *, timeout_s: float) -> None:
        """Raises CommitRefused, and FatalError where asking again cannot help."""


class KafkaMembership:
    """Membership over the consumer that ``of`` gives; None before it is started and after it is stopped."""

    def __init__(self, of: Callable[[], AIOKafkaConsumer | None]) -> None:
        self._of = of

    def assigned(self) -> Collection[TopicPartition]:
        consumer: Any = self._of()
        return consumer.assignment() if consumer is not None else ()

    def paused(self) -> Collection[TopicPartition]:
        consumer: Any = self._of()
        return consumer.paused() if self.assigned() else ()

    def pause(self, partitions: Collection[TopicPartition]) -> None:
        self._consumer().pause(*partitions)

    def resume(self, partitions: Collection[TopicPartition]) -> None:
        self._consumer().resume(*partitions)

    def end_of(self, partition: TopicPartition) -> int | None:
        end: int | None = self._consumer().highwater(partition) if partition in self.assigned() else None
        return end

    async def ends_now(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        ends: Mapping[TopicPartition, int] = await self._consumer().end_offsets(list(partitions))
        return ends

    def broken(self) -> FatalError | None:
        consumer = self._of()
        return consumer.broken if isinstance(consumer, CarefulConsumer) else None

    async def committed(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, Committed]:
        found = await self._consumer()._coordinator.fetch_committed_offsets(list(partitions))
        return {tp: Committed(stored.offset, stored.metadata or "") for tp, stored in found.items()}

    async def commit(self, points: Mapping[TopicPartition, Committed], *, timeout_s: float) -> None:
        offsets = {partition: OffsetAndMetadata(point.offset, point.metadata) for partition, point in points.items()}
        try:
            # aiokafka repeats what it thinks is transient for ever.
            async with asyncio.timeout(timeout_s):
                await self._consumer().commit(offsets)
        except TimeoutError as error:
            raise CommitRefused(f"no answer in {timeout_s:g} s") from error
        except KafkaError as error:
            if getattr(error, "errno", None) in _NOT_AUTHORISED:
                raise FatalError(f"cannot commit: {error}") from error
            raise CommitRefused(str(error)) from error

    def _consumer(self) -> Any:
        if (consumer := self._of()) is None:
            raise IllegalStateError("the consumer is not running")
        return consumer
