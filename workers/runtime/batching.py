"""Groups what is produced in one tick into one batch a partition, and sends a partition's batches one after the other.

``AIOKafkaProducer.send`` costs a coroutine, a future, a result and two copies of the partition list a record; its
public batches cost that once a batch. At four records a draft this halves what producing takes.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from aiokafka import AIOKafkaProducer
from aiokafka.partitioner import murmur2

from workers.runtime.records import OutRecord

Settled = Callable[[int, BaseException | None], None]
"""Called once a record, later, with the number it was added under, and None or why Kafka did not take its batch."""

_WAITING_BATCHES = 2
"""A partition with so many batches behind the one under way takes no more records: memory stays bounded."""


class Batcher:
    """``add`` records; they leave at the end of the tick, or ``linger_s`` later, and while a batch is under way wait
    for it: a partition's batches never overtake each other.
    """

    def __init__(self, producer: AIOKafkaProducer, *, linger_s: float = 0.0) -> None:
        self._producer: Any = producer
        self._linger_s = linger_s
        self._lines: dict[tuple[str, int], _Line] = {}
        self._due: list[_Line] = []
        self._partitions: dict[str, list[int]] = {}
        self._hashed: tuple[bytes | None, int] = (None, 0)
        self._sending: set[asyncio.Task[None]] = set()

    async def add(self, number: int, out: OutRecord, settled: Settled) -> None:
        """Put a record into its partition's last batch; waits only while that is full and others are before it.

        Raises KafkaError where the topic's partitions cannot be found out.
        """
        topic, key, value, headers = out
        if (known := self._partitions.get(topic)) is None:
            known = self._partitions[topic] = sorted(await self._producer.partitions_for(topic))
        at = (topic, self._partition(topic, key, known))
        if (line := self._lines.get(at)) is None:
            line = self._lines[at] = _Line(*at)
        rows = list(headers)
        while not line.takes(key, value, rows):
            if len(line.batches) == _WAITING_BATCHES:
                line.room.clear()
                await line.room.wait()
            else:
                line.batches.append(_Batch(self._producer.create_batch()))
                self._schedule(line)
        line.batches[-1].settled.append((settled, number))

    async def stop(self) -> None:
        """Forget what was not sent. The producer must have stopped before: it sends what it has."""
        for task in self._sending:
            task.cancel()
        await asyncio.gather(*self._sending, return_exceptions=True)

    def _partition(self, topic: str, key: bytes | None, known: Sequence[int]) -> int:
        """Where every other producer of the key would put it (Java's default). The outputs of a record share a key."""
        if key is None:
            with_leader: set[int] = self._producer.client.cluster.available_partitions_for_topic(topic)
            return random.choice(list(with_leader) or known)
        if key != self._hashed[0]:
            self._hashed = (key, murmur2(key) & 0x7FFFFFFF)
        return known[self._hashed[1] % len(known)]

    def _schedule(self, line: _Line) -> None:
        if not self._due:
            loop = asyncio.get_running_loop()
            if self._linger_s:
                loop.call_later(self._linger_s, self._flush)
            else:
                loop.call_soon(self._flush)
        self._due.append(line)

    def _flush(self) -> None:
        due, self._due = self._due, []
        self._partitions.clear()  # metadata may have news
        for line in due:
            if not line.busy and line.batches:
                self._send_first(line)

    def _send_first(self, line: _Line) -> None:
        batch = line.batches.popleft()
        line.busy = True
        line.room.set()
        task = asyncio.create_task(self._sent(line, batch))
        self._sending.add(task)
        task.add_done_callback(partial(self._ended, line, batch))

    async def _sent(self, line: _Line, batch: _Batch) -> None:
        batch.builder.close()
        await (await self._producer.send_batch(batch.builder, line.topic, partition=line.partition))

    def _ended(self, line: _Line, batch: _Batch, task: asyncio.Task[None]) -> None:
        self._sending.discard(task)
        if task.cancelled():
            return
        line.busy = False
        if line.batches:
            self._send_first(line)
        error = task.exception()
        for settled, number in batch.settled:
            settled(number, error)


class _Batch:
    __slots__ = ("builder", "settled")

    def __init__(self, builder: Any) -> None:
        self.builder = builder
        self.settled: list[tuple[Settled, int]] = []


@dataclass(slots=True)
class _Line:
    """One partition: the batches that wait, of which the last takes records, and whether one is under way."""

    topic: str
    partition: int
    batches: deque[_Batch] = field(default_factory=deque)
    busy: bool = False
    room: asyncio.Event = field(default_factory=asyncio.Event)

    def takes(self, key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes | None]]) -> bool:
        """True when the last batch had room for the record, and has it."""
        if not self.batches:
            return False
        put = self.batches[-1].builder.append(timestamp=None, key=key, value=value, headers=headers)
        return put is not None
