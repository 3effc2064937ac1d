"""aiokafka's consumer, made safe against records it cannot read.

aiokafka (0.14) reads several partitions in one poll. When one of them holds a record that it cannot parse (a header
*name* that is not UTF-8, a broken checksum, a compression without its library), the poll raises, the records taken from
the other partitions are lost although their positions have moved, and the next poll meets the same record again. What
follows it in its batch cannot be read either: brokers hand out whole batches. Batches are of one producer each.
"""

from __future__ import annotations

import asyncio
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import ConsumerStoppedError, CorruptRecordException, UnsupportedCodecError

from schemas.errors import FatalError

UNREADABLE = "assay-unreadable"
"""Header of the record that stands for one that cannot be read: why. Its key and value are null."""

_STEP_MS = 500

Batches = dict[TopicPartition, list[Any]]


class CarefulConsumer(AIOKafkaConsumer):  # type: ignore[misc]  # aiokafka has no types
    """``broken`` says why reading cannot go on; the pump looks at it."""

    broken: FatalError | None = None

    async def getmany(self, *_: TopicPartition, timeout_ms: int = 0, max_records: int | None = None) -> Batches:
        """A poll of all assigned partitions that loses nothing.

        What cannot be read is stood for by a record without key and value. Only partitions whose position is known
        are polled: from the others nobody could go back.
        """
        assignment, before = self._positions()
        if not before:
            await asyncio.sleep(timeout_ms / 1000)
            return {}
        try:
            batches: Batches = await super().getmany(*before, timeout_ms=timeout_ms, max_records=max_records)
        except UnicodeDecodeError as error:
            if self._positions()[0] is not assignment:
                raise self._break(f"a record cannot be read ({error.reason}) in the middle of a rebalance") from error
            return await self._step(before, max_records or 500)
        except (UnsupportedCodecError, CorruptRecordException) as error:
            raise self._break(f"a record cannot be read: {error}") from error
        return batches

    async def _step(self, before: dict[TopicPartition, int], most: int) -> Batches:
        """Back to where the poll began, then record by record up to the first unreadable one."""
        for partition, position in before.items():
            self.seek(partition, position)
        batches: Batches = {}
        for partition, position in before.items():
            batch = batches.setdefault(partition, [])
            while len(batch) < most:
                try:
                    got = await super().getmany(partition, timeout_ms=_STEP_MS, max_records=1)
                except UnicodeDecodeError as error:
                    offset = batch[-1].offset + 1 if batch else position
                    self.seek(partition, offset + 1)
                    batch.append(_stand_in(partition, offset, error))
                    return batches
                if not got:
                    break
                batch.extend(got[partition])
        return batches

    def _positions(self) -> tuple[object, dict[TopicPartition, int]]:
        """The assignment, an object that a rebalance replaces, and where each of its partitions is read next."""
        assignment = self._subscription.subscription.assignment if self._subscription.subscription else None
        if assignment is None:
            return None, {}
        states = {partition: assignment.state_value(partition) for partition in assignment.tps}
        return assignment, {
            partition: state.position
            for partition, state in states.items()
            if state.has_valid_position and not state.paused
        }

    def _break(self, reason: str) -> ConsumerStoppedError:
        self.broken = FatalError(reason)
        return ConsumerStoppedError(reason)  # ends FastStream's loop


def _stand_in(partition: TopicPartition, offset: int, error: UnicodeDecodeError) -> ConsumerRecord:
    reason = f"a header's name is not UTF-8: {error.reason}".encode()
    return ConsumerRecord(
        partition.topic, partition.partition, offset, -1, 0, None, None, None, -1, -1, ((UNREADABLE, reason),)
    )
