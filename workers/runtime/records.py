"""What goes into a worker and what comes out of it: one Kafka record each, in raw bytes."""

from __future__ import annotations

from typing import Any, NamedTuple

from schemas.headers import Headers

_FRAMING_BYTES = 61 + 36  # the head of a batch (61) and the longest head of a record


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


class OutRecord(NamedTuple):
    """One record to be produced. ``value`` None is a tombstone and needs a key."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers = ()

    @property
    def size(self) -> int:
        """Bytes this record takes as a Kafka batch of its own: an upper bound."""
        size = _FRAMING_BYTES + len(self.key or b"") + len(self.value or b"")
        for name, value in self.headers:
            size += (len(name) if name.isascii() else len(name.encode())) + 10
            if value:
                size += len(value)
        return size


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
