"""What goes into a worker and what comes out of it: one Kafka record each, in raw bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

Headers = tuple[tuple[str, bytes | None], ...]
"""Kafka headers as they are on the wire: names may repeat, a value may be null or not UTF-8."""


class InRecord(NamedTuple):
    """One record as it was read. Nothing here is decoded, so nothing here can fail."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    timestamp_ms: int | None = None

    @property
    def uri(self) -> str:
        """Where the record stands: ``kafka://topic/partition/offset``."""
        return f"kafka://{self.topic}/{self.partition}/{self.offset}"

    def header(self, name: str) -> bytes | None:
        """The first header of that name; None when it is missing or null."""
        return next((value for key, value in self.headers if key == name), None)


class OutRecord(NamedTuple):
    """One record to be produced. ``value`` None is a tombstone and needs a key."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers = ()

    @property
    def size(self) -> int:
        """Bytes this record takes in a Kafka batch, framing included (an upper bound, checked by a test)."""
        framing = 64 + sum(len(name.encode()) + len(value or b"") + 10 for name, value in self.headers)
        return framing + len(self.key or b"") + len(self.value or b"")


def from_kafka(record: Any) -> InRecord:
    """An aiokafka ``ConsumerRecord`` as an InRecord; bytes stay as they are."""
    return InRecord(
        record.topic,
        record.partition,
        record.offset,
        record.key,
        record.value,
        tuple(record.headers) if record.headers else (),
        record.timestamp,
    )


def replaced(headers: Iterable[tuple[str, bytes | None]], **new: bytes) -> Headers:
    """``headers`` without those named in ``new``, then ``new``: a name ends up there once."""
    return (*((name, value) for name, value in headers if name not in new), *new.items())
