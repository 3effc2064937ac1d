"""The heart of every worker: hundreds of records in flight, per-key order kept, nothing lost.

deliver -> lanes -> slots (process, confirmed produce, done) -> commit of the finished prefix, with what is finished
beyond it in the metadata. A record may run again after a crash or a rebalance; it is never skipped.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable
from contextlib import suppress

from aiokafka import TopicPartition
from aiokafka.errors import KafkaError

from schemas.errors import FatalError, TooManyDeadLetters
from workers.runtime.committing import Committer
from workers.runtime.lanes import Lanes, OpenPartition
from workers.runtime.logs import event
from workers.runtime.offsets import Committed, Membership
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.pump_state import PumpCounts, PumpOptions, PumpState
from workers.runtime.records import InRecord
from workers.runtime.slots import Oversize, Process, Slots
from workers.runtime.tracker import PartitionTracker

_CONFIRM_S = 10.0
_CONFIRM_REVOKED_S = 1.0  # Kafka waits for all members: half of what Settings keep free beside the drain

PATIENCE_S = 0.05
"""How long a delivery waits for room before it pauses the partitions: a pause costs two polls."""


class Pump:
    """One consumer's work. ``start`` it with its membership, ``deliver`` batches, ``stop`` it once.

    ``failed`` is set when the process must end; ``error`` says why.
    """

    def __init__(
        self, process: Process, producer: ConfirmedProducer, *, oversize: Oversize, options: PumpOptions | None = None
    ) -> None:
        self._options = options or PumpOptions()
        self._producer = producer
        self._low_water = self._options.window * 3 // 4
        self._membership: Membership | None = None
        self._partitions: dict[TopicPartition, OpenPartition] = {}
        self._restored, self._room, self._quiet = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._full = self._stopping = False
        self._epoch = 0
        self.counts, self.state = PumpCounts(), PumpState()
        self.ticked_at = 0.0
        self._ends: dict[TopicPartition, int] = {}
        self._looking: asyncio.Task[None] | None = None
        self.failed = asyncio.Event()
        self.error: BaseException | None = None
        self._lanes = Lanes()
        self._slots = Slots(
            self._lanes, process, producer, oversize=oversize, concurrency=self._options.concurrency,
            counts=self.counts, finished=self._make_room, failed=self.fail,
        )  # fmt: skip
        self._committer = Committer(
            self._partitions, options=self._options, counts=self.counts, tick=self._tick, failed=self.fail
        )

    # Life

    def start(self, membership: Membership) -> None:
        self._membership = membership
        self._committer.start(membership)
        self._looking = asyncio.create_task(self._look_ahead(membership), name="look ahead")

    def fail(self, error: BaseException) -> None:
        """Nothing more starts and nothing more is read; the worker sees ``failed`` and ends the process."""
        if self.error is None:
            self.error = error
            event("fatal", level=logging.CRITICAL, error=error)
        self._lanes.held = True
        self.failed.set()
        self._regulate()

    def hold(self) -> None:
        """The kill switch: nothing starts; results under way are thrown away and their records run again."""
        self._slots.holds += 1
        self._lanes.held = True
        self._regulate()

    def release(self) -> None:
        self._lanes.held = self.error is not None
        self._regulate()
        self._slots.fill()

    @property
    def held(self) -> bool:
        return self._lanes.held

    @property
    def assigned(self) -> bool:
        """True when this member has its share of the partitions, none possibly, and knows what is finished."""
        return self._restored.is_set()

    async def idle(self) -> None:
        """Wait until nothing is in memory and everything finished is committed."""
        self._quiet.clear()
        await self._quiet.wait()

    async def stop(self) -> None:
        """Read nothing more, let what runs finish (bounded; cut short after a failure), commit.

        Only then may the consumer leave its group.
        """
        self._stopping = True
        self._regulate()
        timeout_s = self._options.drain_timeout_s if self.error is None else 0.0
        # Kafka is well when it is the records that end the worker: what it is given it confirms, and it is committed.
        confirm_s = _CONFIRM_S if self.error is None or isinstance(self.error, TooManyDeadLetters) else 0.0
        await self._slots.drain(list(self._partitions.values()), timeout_s, confirm_s=confirm_s)
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        await self._committer.stop()
        self._forget(list(self._partitions))

    # Reading

    async def deliver(self, records: Iterable[InRecord]) -> None:
        """Admit a batch wholly, then wait a moment for room, or pause.

        A batch that was read before a rebalance is dropped: Kafka hands its records out again.
        """
        epoch = self._epoch
        await self._restored.wait()
        if epoch != self._epoch or self._stopping:
            return
        self._admit(records)
        self._slots.fill()
        if len(self._lanes) >= self._options.window:
            await self._wait_for_room()

    def _admit(self, records: Iterable[InRecord]) -> None:
        topic, number = "", -1
        partition: OpenPartition | None = None
        for record in records:
            if record.partition != number or record.topic != topic:
                topic, number = record.topic, record.partition
                partition = self._partitions.get(TopicPartition(topic, number))
            if partition is None:
                raise FatalError(f"a record of {topic}/{number} was delivered, which is not assigned")
            if self._lanes.admit(partition, record):
                self.counts.admitted += 1
            else:
                self.counts.skipped += 1

    async def _wait_for_room(self) -> None:
        self._full = True
        self._room.clear()
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._room.wait()
        except TimeoutError:
            self._regulate()

    def _make_room(self) -> None:
        if self._full and len(self._lanes) <= self._low_water:
            self._full = False
            self._room.set()
            self._regulate()

    def _regulate(self) -> None:
        """Pause what must not be read now, resume the rest. By state and not by change: a lost pause comes again."""
        if self._membership is None:
            return
        assigned = set(self._membership.assigned())
        if self._full or self._stopping or self._lanes.held:
            wanted = assigned
        else:
            wanted = {tp for tp, held in self._partitions.items() if held.tracker.crowded} & assigned
        paused = set(self._membership.paused())
        if wanted - paused:
            self._membership.pause(wanted - paused)
        if paused - wanted:
            self._membership.resume(paused - wanted)
        self.state.paused = bool(wanted)

    # Rebalances

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        """Learn what is finished already, then let waiting deliveries in."""
        assigned = list(assigned)
        if self._membership is None:
            raise FatalError("partitions were assigned before the pump was started")
        try:
            stored = await self._membership.committed(assigned)
        except KafkaError as error:
            # aiokafka would log it and go on as if all were well.
            self.fail(FatalError(f"cannot read the committed offsets: {error}"))
            return
        for tp in assigned:
            offset, metadata = stored.get(tp, Committed(-1, ""))
            self._partitions[tp] = OpenPartition(PartitionTracker(offset if offset >= 0 else None, metadata))
        self._regulate()
        self._restored.set()
        event("partitions_assigned", partitions=len(assigned), topics=",".join(sorted({tp.topic for tp in assigned})))

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        """Stop admitting, drop what has not started, let the rest finish (bounded), commit, forget: in this order."""
        self._epoch += 1
        self._restored.clear()
        mine = [tp for tp in revoked if tp in self._partitions]
        if not mine:
            return
        self.counts.revocations += 1
        started = time.monotonic()
        going = [self._partitions[tp] for tp in mine]
        await self._slots.drain(going, self._options.drain_timeout_s, confirm_s=_CONFIRM_REVOKED_S)
        try:
            await self._committer.commit()
        except FatalError as error:
            self.fail(error)
        self._forget(mine)
        self._make_room()
        self._slots.fill()
        self.state.last_drain_s = time.monotonic() - started
        event("partitions_revoked", partitions=len(mine), drain_s=round(self.state.last_drain_s, 3))

    def _forget(self, partitions: Iterable[TopicPartition]) -> None:
        for tp in partitions:
            if (held := self._partitions.pop(tp, None)) is not None:
                held.tracker.revoke()

    # Watching

    def _tick(self, now: float) -> None:
        """Fill in ``state``. Raises FatalError when nothing moves any more."""
        if self._membership is not None and (broken := self._membership.broken()) is not None:
            raise broken
        self._regulate()
        self.ticked_at = now
        state = self.state
        state.partitions, state.in_memory, state.running = len(self._partitions), len(self._lanes), self._lanes.running
        state.metadata_bytes = max((held.tracker.metadata_size for held in self._partitions.values()), default=0)
        state.oldest_s, state.lag = 0.0, 0
        for tp, held in self._partitions.items():
            stuck_s = held.stuck_for_s(now)
            if stuck_s > self._options.stall_timeout_s and not self._lanes.held:
                raise FatalError(f"{tp.topic}/{tp.partition} made no progress for {stuck_s:.0f} s")
            state.oldest_s = max(state.oldest_s, stuck_s)
            state.lag += self._lag(tp, held)
        if (silent_s := self._producer.silent_for_s()) > self._options.produce_timeout_s:
            raise FatalError(f"Kafka confirmed nothing for {silent_s:.0f} s: is it up, and has its disk room?")
        if not len(self._lanes) and not any(held.tracker.commit_point() for held in self._partitions.values()):
            self._quiet.set()

    def _lag(self, tp: TopicPartition, held: OpenPartition) -> int:
        heard = self._membership.end_of(tp) if self._membership is not None else None
        end, position = max(heard or 0, self._ends.get(tp, 0)), held.tracker.position
        return max(0, end - position) if position is not None else 0

    async def _look_ahead(self, membership: Membership) -> None:
        """How much waits in paused partitions; for on-call alone, so that whatever goes wrong with it costs nothing."""
        while True:
            await asyncio.sleep(self._options.look_ahead_s)
            if paused := membership.paused():
                with suppress(KafkaError, TimeoutError):
                    async with asyncio.timeout(self._options.look_ahead_s):
                        self._ends = dict(await membership.ends_now(paused))
