"""Records that cannot be handled are set aside with their bytes; too many of them stop the worker.

A bad deployment must not divert a whole topic into the dead letters: when their share, or a row of them, says that the
fault is here and not in the records, the worker stops and the records stay where they are.
"""

from __future__ import annotations

from collections import deque
from datetime import datetime

from schemas.dead_letter import POINTER_TYPE, PREFIX, DeadLetter
from schemas.errors import TooManyDeadLetters
from schemas.headers import CE_TYPE, Headers
from workers.runtime.records import InRecord, OutRecord

NULL_VALUE = f"{PREFIX}null-value"
"""Set where key and value were both null, which no client can produce: the dead letter's value is empty instead."""


class DeadLetterLimit:
    """Counts fates. Pure; raises TooManyDeadLetters at the record that crosses the limit, which is not set aside."""

    def __init__(self, *, worker: str, topic: str, ratio: float, window: int, in_a_row: int) -> None:
        """More than ``ratio`` of the last ``window`` records, once there are so many, or ``in_a_row`` of them.

        ``worker`` and ``topic`` (what is read) are named to whoever has to look.
        """
        self._who = f"{worker}, reading {topic}"
        self._ratio, self._window, self._in_a_row = ratio, window, in_a_row
        self._seen = self._row = 0
        self._bad: deque[int] = deque()  # the numbers of the bad ones among the last ``window`` records

    def good(self) -> None:
        self._seen += 1
        self._row = 0

    def bad(self) -> None:
        """One more dead letter. Raises TooManyDeadLetters."""
        self._seen += 1
        self._row += 1
        self._bad.append(self._seen)
        while self._bad[0] <= self._seen - self._window:
            self._bad.popleft()
        if self._row >= self._in_a_row:
            raise self._too_many(f"{self._row} dead letters in a row", f"ASSAY_DEAD_LETTERS_IN_A_ROW={self._in_a_row}")
        if self._seen >= self._window and len(self._bad) > self._ratio * self._window:
            found = f"{len(self._bad)} of the last {self._window} records became dead letters"
            raise self._too_many(found, f"ASSAY_DEAD_LETTER_RATIO={self._ratio:g}")

    def _too_many(self, found: str, limit: str) -> TooManyDeadLetters:
        return TooManyDeadLetters(
            f"{self._who}: {found} ({limit}): the worker stops, the other records stay where they are; look at "
            f"`assay dlq list` and mend the producer or the worker, or raise {limit.partition('=')[0]} for one start "
            "to set them aside"
        )


class DeadLetterBox:
    """Makes the dead letters of one worker."""

    def __init__(self, *, topic: str, limit_bytes: int, group: str, worker: str, bom_version: str = "") -> None:
        """``topic`` is where they go, with at most ``limit_bytes`` a record."""
        self._topic, self._limit_bytes = topic, limit_bytes
        self._group, self._worker, self._bom_version = group, worker, bom_version

    def letter(self, record: InRecord, *, kind: str, error: str, at: datetime) -> OutRecord:
        """The record as a dead letter: key and value untouched, the rest in headers; a pointer when it is too large."""
        letter = DeadLetter(
            topic=record.topic, partition=record.partition, offset=record.offset, group=self._group,
            worker=self._worker, error_kind=kind, error=error, at=at.isoformat(), bom_version=self._bom_version,
        )  # fmt: skip
        out = OutRecord(self._topic, record.key, record.value, letter.to_headers(record.headers))
        if out.key is None and out.value is None:
            out = out._replace(value=b"", headers=(*out.headers, (NULL_VALUE, b"true")))
        return out if out.size <= self._limit_bytes else self._pointer(record, letter)

    def _pointer(self, record: InRecord, letter: DeadLetter) -> OutRecord:
        """Where the record lies, without its bytes. Its key is kept while it is short."""
        key = record.key if record.key is not None and len(record.key) <= 1024 else None
        headers: Headers = (*letter._replace(pointer=True).to_headers(()), (CE_TYPE, POINTER_TYPE.encode()))
        return OutRecord(self._topic, key, record.uri.encode(), headers)
