"""Runs ready records, at most ``concurrency`` at a time: process, confirmed produce, done."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence, Set
from contextlib import suppress
from functools import partial

from schemas.errors import FatalError
from workers.runtime.lanes import Lanes, OpenPartition, Taken
from workers.runtime.producing import ConfirmedProducer, OutputTooLarge
from workers.runtime.pump_state import PumpCounts
from workers.runtime.records import InRecord, OutRecord

Process = Callable[[InRecord], Awaitable[Sequence[OutRecord]]]
"""What a record leads to. An exception that leaves it stops the worker: expected ones must be answered inside."""

Oversize = Callable[[InRecord, OutputTooLarge], Sequence[OutRecord]]
"""What to produce instead of outputs of which one is too large."""

STRETCH_S = 0.05
"""How long the slots together may keep the event loop from going round. The answer to a commit that is read after its
time has passed counts as none; and a kill switch, a heartbeat or a probe must not wait for hundreds of records."""


BEGUN_TOGETHER = 24
"""Most records that begin in one round of the loop. Those that begin together ask the model together and are answered
together, again and again: with hundreds at once the loop has nothing to do, and then everything."""


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
        self._sending: set[asyncio.Task[None]] = set()
        self._ramping = False
        self._last: asyncio.Task[None] | None = None
        self._going_on = 0  # slots that took another record in this round of the loop, after a wait
        self._breath_due = 0.0
        self._drains: list[tuple[Sequence[OpenPartition], asyncio.Event]] = []
        self.holds = 0
        """Counts up at every hold: a result that was under way then is thrown away."""

    def fill(self) -> None:
        """Start slots while something is ready: one, a round of the loop later two, then four, and so on.

        A slot whose records need no waiting takes all of them in its first round; then no more are started.
        """
        if not self._running:
            self._breath_due = time.monotonic() + STRETCH_S
        if not self._ramping:
            self._ramp(1)

    def _ramp(self, count: int) -> None:
        count = min(count, BEGUN_TOGETHER, self._lanes.ready, self._concurrency - len(self._running))
        for _ in range(count):
            task = asyncio.create_task(self._slot())
            self._running[task] = None
            task.add_done_callback(self._ended)
        self._ramping = count > 0
        if count > 0:
            asyncio.get_running_loop().call_soon(self._ramp, 2 * count)

    async def drain(self, partitions: Sequence[OpenPartition], timeout_s: float, *, confirm_s: float) -> None:
        """Drop what has not started, let the rest finish, cancel what takes longer than ``timeout_s``.

        What has been handed to Kafka by then is not taken back: it gets ``confirm_s`` more, because it would be
        produced a second time when it arrives and is not committed.
        """
        for partition in partitions:
            self._counts.dropped += self._lanes.close(partition)
        await self._until_drained(partitions, timeout_s)
        await self._cancel(partitions, but=self._sending)
        await self._until_drained(partitions, confirm_s)
        await self._cancel(partitions)

    async def _until_drained(self, partitions: Sequence[OpenPartition], timeout_s: float) -> None:
        if not any(partition.running for partition in partitions):
            return
        drain = (partitions, asyncio.Event())
        self._drains.append(drain)
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await drain[1].wait()
        self._drains.remove(drain)

    async def _cancel(self, partitions: Sequence[OpenPartition], *, but: Set[asyncio.Task[None]] = frozenset()) -> None:
        mine = [task for task, taken in self._running.items() if taken and taken.lane.partition in partitions]
        late = [task for task in mine if task not in but]
        for task in late:
            task.cancel()
        self._counts.dropped += len(late)
        await asyncio.gather(*late, return_exceptions=True)

    async def _slot(self) -> None:
        """Run one record after the other until none is ready, or enough others go on in this round of the loop."""
        task = asyncio.current_task()
        assert task is not None
        try:
            while (taken := await self._next(task)) is not None:
                self._running[task] = taken
                self._last = task
                sent = False
                try:
                    sent = await self._run(taken, task)
                finally:
                    self._sending.discard(task)
                    if not sent:
                        self._finish(taken, done=False)
                if self._last is not task and not self._may_go_on():
                    return
        finally:
            # Here and not in a callback: a slot that is counted but gone would leave ready records lying.
            del self._running[task]

    def _may_go_on(self) -> bool:
        """Asked by a slot that has waited. One that may not makes room for a new slot, some rounds later."""
        if not self._going_on:
            asyncio.get_running_loop().call_soon(self._next_round)
        self._going_on += 1
        return self._going_on <= BEGUN_TOGETHER

    def _next_round(self) -> None:
        self._going_on = 0
        self.fill()

    async def _next(self, task: asyncio.Task[None]) -> Taken | None:
        """The next record, after a round of the event loop where records that need no waiting have kept it long."""
        if time.monotonic() >= self._breath_due:
            self._running[task] = None
            await asyncio.sleep(0)
            if (now := time.monotonic()) >= self._breath_due:  # for all slots together: the first one that is back
                self._breath_due = now + STRETCH_S
        return self._lanes.take()

    async def _run(self, taken: Taken, task: asyncio.Task[None]) -> bool:
        """True when the outputs are on their way: the record is finished when they are confirmed."""
        holds, record = self.holds, taken.record
        outs = await self._process(record)
        if self.holds != holds or taken.lane.partition.tracker.revoked:
            self._counts.discarded += 1
            return False
        self._sending.add(task)
        confirmed = partial(self._confirmed, taken)
        try:
            await self._producer.send(outs, confirmed)
        except OutputTooLarge as error:
            self._counts.oversize += 1
            await self._producer.send(self._oversize(record, error), confirmed)
        return True

    def _confirmed(self, taken: Taken, error: FatalError | None) -> None:
        if error is not None:
            self._failed(error)
        self._finish(taken, done=error is None)

    def _finish(self, taken: Taken, *, done: bool) -> None:
        self._counts.done += done
        self._lanes.finish(taken, done=done)
        partition = taken.lane.partition
        self._finished()
        if taken.lane.waiting:
            self.fill()
        if partition.closed:
            for partitions, drained in self._drains:
                if not any(partition.running for partition in partitions):
                    drained.set()

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failed(error)
