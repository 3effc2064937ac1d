"""Which record may run next: a pure object, no I/O and no clock.

Records of one key in one partition form a lane and run one after the other; lanes do not wait for each other. A record
without a key has a lane of its own.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from workers.runtime.records import InRecord
from workers.runtime.tracker import PartitionTracker


class Lane:
    """The waiting records of one key. In ``Lanes``'s ready queue, or one of its records runs, never both."""

    __slots__ = ("key", "partition", "waiting")

    def __init__(self, partition: OpenPartition, key: bytes | None) -> None:
        self.partition, self.key = partition, key
        self.waiting: deque[InRecord] = deque()


class OpenPartition:
    """One partition from assignment to revocation. ``closed`` = nothing of it starts any more."""

    __slots__ = ("closed", "lanes", "moved_at", "moved_to", "running", "tracker")

    def __init__(self, tracker: PartitionTracker) -> None:
        self.tracker = tracker
        self.lanes: dict[bytes, Lane] = {}
        self.running = 0
        self.closed = False
        self.moved_to: int | None = None
        self.moved_at = 0.0

    def stuck_for_s(self, now: float) -> float:
        """Seconds since the position last moved while something is unfinished; call regularly."""
        position = self.tracker.position
        if position != self.moved_to or not self.tracker.unfinished or not self.moved_at:
            self.moved_to, self.moved_at = position, now
        return now - self.moved_at


class Taken(NamedTuple):
    """A record that runs now. Give it back with ``Lanes.finish``."""

    lane: Lane
    record: InRecord


class Lanes:
    """All lanes of a pump. ``held`` = nothing starts."""

    def __init__(self) -> None:
        self._ready: deque[Lane] = deque()
        self.waiting = 0
        self.running = 0
        self.held = False

    def __len__(self) -> int:
        """Records in memory, waiting or running."""
        return self.waiting + self.running

    @property
    def ready(self) -> int:
        """Lanes of which a record may start now."""
        return 0 if self.held else len(self._ready)

    def admit(self, partition: OpenPartition, record: InRecord) -> bool:
        """Queue a record; False when it is finished already. Raises OffsetsWentBack."""
        if not partition.tracker.admit(record.offset):
            return False
        key = record.key
        lane = partition.lanes.get(key) if key is not None else None
        if lane is None:
            lane = Lane(partition, key)
            if key is not None:
                partition.lanes[key] = lane
            self._ready.append(lane)
        lane.waiting.append(record)
        self.waiting += 1
        return True

    def take(self) -> Taken | None:
        """The next record to run, or None."""
        while self._ready and not self.held:
            lane = self._ready.popleft()
            if lane.waiting:
                self.waiting -= 1
                self.running += 1
                lane.partition.running += 1
                return Taken(lane, lane.waiting.popleft())
        return None

    def finish(self, taken: Taken, *, done: bool) -> None:
        """The record is done, or must run again (unless its partition is closed)."""
        lane, record = taken
        partition = lane.partition
        self.running -= 1
        partition.running -= 1
        if done:
            partition.tracker.done(record.offset)
        elif not partition.closed:
            lane.waiting.appendleft(record)
            self.waiting += 1
        if lane.waiting:
            self._ready.append(lane)
        elif lane.key is not None:
            del partition.lanes[lane.key]

    def close(self, partition: OpenPartition) -> int:
        """Drop what has not started and let nothing more of the partition start; how many were dropped."""
        partition.closed = True
        before = self.waiting
        keyless = [lane for lane in self._ready if lane.partition is partition]
        for lane in (*keyless, *partition.lanes.values()):
            self.waiting -= len(lane.waiting)
            lane.waiting.clear()
        self._ready = deque(lane for lane in self._ready if lane.partition is not partition)
        return before - self.waiting
