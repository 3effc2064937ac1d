"""Runs ready records, at most ``concurrency`` at a time: process, confirmed produce, done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from workers.runtime.lanes import Lanes, OpenPartition, Taken
from workers.runtime.producing import ConfirmedProducer, OutputTooLarge
from workers.runtime.pump_state import PumpCounts
from workers.runtime.records import InRecord, OutRecord

Process = Callable[[InRecord], Awaitable[Sequence[OutRecord]]]
"""What a record leads to. An exception that leaves it stops the worker: expected ones must be answered inside."""

Oversize = Callable[[InRecord, OutputTooLarge], Sequence[OutRecord]]
"""What to produce instead of outputs of which one is too large."""


class Slots:
    """The tasks that run records. A slot lives while something is ready; ``fill`` starts as many as are needed."""

    def __init__(
        self,
        lanes: Lanes,
        process: Process,
        producer: ConfirmedProducer,
        *,
        oversize: Oversize,
        concurrency: int,
        counts: PumpCounts,
        finished: Callable[[], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        """``finished`` is called after every record, ``failed`` with the error of a slot that broke."""
        self._lanes, self._process, self._producer, self._oversize = lanes, process, producer, oversize
        self._concurrency, self._counts = concurrency, counts
        self._finished, self._failed = finished, failed
        self._running: dict[asyncio.Task[None], Taken | None] = {}
        self._drains: list[tuple[Sequence[OpenPartition], asyncio.Event]] = []
        self.holds = 0
        """Counts up at every hold: a result that was under way then is thrown away."""

    def fill(self) -> None:
        for _ in range(min(self._lanes.ready, self._concurrency - len(self._running))):
            task = asyncio.create_task(self._slot())
            self._running[task] = None
            task.add_done_callback(self._ended)

    async def drain(self, partitions: Sequence[OpenPartition], timeout_s: float) -> None:
        """Drop what has not started, let the rest finish, cancel what takes longer than ``timeout_s``."""
        for partition in partitions:
            self._counts.dropped += self._lanes.close(partition)
        drain = (partitions, asyncio.Event())
        self._drains.append(drain)
        if any(partition.running for partition in partitions):
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await drain[1].wait()
        self._drains.remove(drain)
        await self._cancel(partitions)

    async def _cancel(self, partitions: Sequence[OpenPartition]) -> None:
        late = [task for task, taken in self._running.items() if taken and taken.lane.partition in partitions]
        for task in late:
            task.cancel()
        self._counts.dropped += len(late)
        await asyncio.gather(*late, return_exceptions=True)

    async def _slot(self) -> None:
        """Run one record after the other until none is ready."""
        task = asyncio.current_task()
        assert task is not None
        lanes = self._lanes
        try:
            while (taken := lanes.take()) is not None:
                self._running[task] = taken
                done = False
                try:
                    done = await self._run(taken)
                finally:
                    lanes.finish(taken, done=done)
                    self._after(taken.lane.partition)
        finally:
            # Here and not in a callback: a slot that is counted but gone would leave ready records lying.
            del self._running[task]

    async def _run(self, taken: Taken) -> bool:
        """True when the outputs are confirmed; False when the record must run again."""
        holds, record = self.holds, taken.record
        outs = await self._process(record)
        if self.holds != holds or taken.lane.partition.tracker.revoked:
            self._counts.discarded += 1
            return False
        if outs:
            try:
                await self._producer.produce(outs)
            except OutputTooLarge as error:
                self._counts.oversize += 1
                await self._producer.produce(self._oversize(record, error))
        self._counts.done += 1
        return True

    def _after(self, partition: OpenPartition) -> None:
        self._finished()
        if partition.closed:
            for partitions, drained in self._drains:
                if not any(partition.running for partition in partitions):
                    drained.set()

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failed(error)
