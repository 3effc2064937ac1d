"""Commits the finished prefix of every partition, again and again, and notices when nothing moves any more."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping

from aiokafka import TopicPartition

from schemas.errors import FatalError
from workers.runtime.lanes import OpenPartition
from workers.runtime.logs import event
from workers.runtime.offsets import CommitRefused, Committed, Membership
from workers.runtime.pump_state import PumpCounts, PumpOptions

_LAST_TRIES = 5


class Committer:
    """The task behind ``start``: every ``commit_interval_s`` it calls ``tick`` and commits."""

    def __init__(
        self,
        partitions: Mapping[TopicPartition, OpenPartition],
        *,
        options: PumpOptions,
        counts: PumpCounts,
        tick: Callable[[float], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        self._partitions, self._options, self._counts = partitions, options, counts
        self._tick, self._failed = tick, failed
        self._membership: Membership | None = None
        self._lock = asyncio.Lock()
        self._passed_at = time.monotonic()
        self._task: asyncio.Task[None] | None = None

    def start(self, membership: Membership) -> None:
        self._membership = membership
        self._task = asyncio.create_task(self._regularly(), name="committer")
        self._task.add_done_callback(self._ended)

    async def stop(self) -> None:
        """End the task, then commit a last time: tried again, because whatever it misses runs again."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        try:
            for _ in range(_LAST_TRIES):
                if await self.commit():
                    return
                await asyncio.sleep(self._options.commit_interval_s)
        except FatalError as error:
            self._failed(error)

    async def commit(self) -> bool:
        """One commit of every partition that moved; False when it was refused and has to come again."""
        async with self._lock:
            points = {tp: point for tp, held in self._partitions.items() if (point := held.tracker.commit_point())}
            if not points or self._membership is None:
                self._passed_at = time.monotonic()
                return True
            offsets = {tp: Committed(point.offset, point.metadata) for tp, point in points.items()}
            trackers = {tp: self._partitions[tp].tracker for tp in points}
            try:
                await self._membership.commit(offsets, timeout_s=self._options.commit_timeout_s)
            except CommitRefused as refused:
                self._counts.commits_refused += 1
                event("commit_refused", level=logging.WARNING, reason=refused)
                return False
            for tp, point in points.items():
                trackers[tp].acknowledge(point)
            self._passed_at = time.monotonic()
            self._counts.commits += 1
            return True

    async def _regularly(self) -> None:
        while True:
            await asyncio.sleep(self._options.commit_interval_s)
            self._tick(time.monotonic())
            await self.commit()
            if (silent_s := time.monotonic() - self._passed_at) > self._options.stall_timeout_s:
                raise FatalError(f"no commit passed for {silent_s:.0f} s")

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failed(error)
