"""What may be committed of one partition: a pure object, no I/O and no clock.

Records finish in any order. Only the offset below which *everything* is finished may be committed; what is finished
beyond it travels in the commit's metadata, so that a restart or a new owner does not run it again.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from schemas.errors import FatalError
from workers.runtime.finished import METADATA_CAP, decode, encode

CROWDED = METADATA_CAP * 3 // 4
"""Characters of metadata from which on a partition takes no new records."""

SPAN_CAP = 50_000
"""Records remembered beyond the first unfinished one; a partition with more takes no new records."""


class OffsetsWentBack(FatalError):
    """A partition handed out an offset that lies before one already seen: its log was cut or made anew."""


class CommitPoint(NamedTuple):
    """One partition's commit: everything below ``offset`` is finished, ``metadata`` names what is finished beyond."""

    offset: int
    metadata: str
    version: int


class PartitionTracker:
    """Follows one partition from its assignment to its revocation.

    ``admit`` in the order of delivery, ``done`` in any order, ``commit_point`` whenever a commit is due,
    ``acknowledge`` when Kafka took it, ``revoke`` when the partition goes: from then on nothing counts any more.
    """

    __slots__ = (
        "_acknowledged",
        "_admitted",
        "_finished",
        "_metadata_size",
        "_next",
        "_restored",
        "_version",
        "revoked",
    )

    def __init__(self, committed: int | None = None, metadata: str = "") -> None:
        """``committed`` is the group's committed offset (None: none yet), ``metadata`` what was committed with it."""
        self._next = committed
        self._restored = set() if committed is None else decode(committed, metadata)
        self._admitted: deque[int] = deque()
        self._finished: set[int] = set()
        self._version = 0
        self._acknowledged = 0
        self._metadata_size = 0
        self.revoked = False

    def admit(self, offset: int) -> bool:
        """Take note of a delivered record; False when it is finished already and must not run again.

        Offsets may have gaps (compaction, transaction markers). A first record that lies before the committed offset
        means that the log was made anew: what was restored is void. Later on that raises OffsetsWentBack, because
        results of the old log may still be under way.
        """
        if self._next is not None and offset < self._next:
            self._start_anew(offset)
        self._next = offset + 1
        if offset in self._restored:
            self._restored.discard(offset)
            if self._admitted:
                self._admitted.append(offset)
                self._finished.add(offset)
            self._version += 1
            return False
        self._admitted.append(offset)
        return True

    def done(self, offset: int) -> None:
        """The record's outputs are confirmed. Ignored once the partition is revoked: the new owner runs it again."""
        if self.revoked:
            return
        self._finished.add(offset)
        self._version += 1
        admitted, finished = self._admitted, self._finished
        while admitted and admitted[0] in finished:
            finished.discard(admitted.popleft())

    def revoke(self) -> None:
        self.revoked = True

    @property
    def position(self) -> int | None:
        """The offset that may be committed: the first unfinished one. None before the first record or commit."""
        return self._admitted[0] if self._admitted else self._next

    @property
    def unfinished(self) -> int:
        """Records admitted and not yet done."""
        return len(self._admitted) - len(self._finished)

    @property
    def crowded(self) -> bool:
        """True when no new record should be admitted until the oldest ones finish."""
        return self._metadata_size > CROWDED or len(self._admitted) > SPAN_CAP

    @property
    def metadata_size(self) -> int:
        """Characters of the metadata last computed."""
        return self._metadata_size

    def commit_point(self) -> CommitPoint | None:
        """What to commit now; None when Kafka has it already or nothing may be committed."""
        position = self.position
        if self.revoked or position is None or self._version == self._acknowledged:
            return None
        # Restored offsets that were not delivered again yet are still finished: a second crash must not forget them.
        metadata = encode(position, self._finished | self._restored)
        self._metadata_size = len(metadata)
        return CommitPoint(position, metadata, self._version)

    def acknowledge(self, point: CommitPoint) -> None:
        """Kafka took this point; a failed commit is simply never acknowledged and comes again."""
        self._acknowledged = max(self._acknowledged, point.version)

    def _start_anew(self, offset: int) -> None:
        if self._admitted or self._version:
            raise OffsetsWentBack(f"offset {offset} was delivered after {(self._next or 0) - 1}")
        self._restored.clear()
