"""A consumer group in memory: what a pump's tests need of Kafka besides a producer."""

from __future__ import annotations

import asyncio

from aiokafka import TopicPartition

from workers.runtime.offsets import CommitRefused, Committed
from workers.runtime.records import InRecord


def drafts(partition: int = 0) -> TopicPartition:
    return TopicPartition("drafts", partition)


def record(offset: int, key: bytes | None = None, *, partition: int = 0) -> InRecord:
    return InRecord("drafts", partition, offset, key, b"%d" % offset)


class Group:
    """Membership with a memory. ``refuse`` makes commits fail; ``answers`` delays what ``committed`` returns."""

    def __init__(self) -> None:
        self.stored: dict[TopicPartition, Committed] = {}
        self.mine: set[TopicPartition] = set()
        self.stopped: set[TopicPartition] = set()
        self.ends: dict[TopicPartition, int] = {}
        self.newest: dict[TopicPartition, int] = {}
        self.refuse: str | None = None
        self.answers = asyncio.Event()
        self.answers.set()

    def assigned(self):
        return self.mine

    def paused(self):
        return self.stopped & self.mine

    def pause(self, partitions):
        assert set(partitions) <= self.mine
        self.stopped |= set(partitions)

    def resume(self, partitions):
        self.stopped -= set(partitions)

    def end_of(self, partition):
        return self.ends.get(partition)

    async def ends_now(self, partitions):
        return {tp: self.newest[tp] for tp in partitions if tp in self.newest}

    def broken(self):
        return None

    async def committed(self, partitions):
        await self.answers.wait()
        return {tp: self.stored[tp] for tp in partitions if tp in self.stored}

    async def commit(self, points, *, timeout_s):
        if self.refuse:
            raise CommitRefused(self.refuse)
        self.stored |= points
