"""What a dead letter says beside the original bytes: everything in headers, the key and the value untouched."""

from __future__ import annotations

from typing import NamedTuple

from schemas.headers import Headers, header

PREFIX = "assay-dlq-"
REPLAYED_PREFIX = f"{PREFIX}replayed-"
POINTER_TYPE = "assay.dead_letter_pointer.v1"
"""A record too large even for the dead letters is kept as a pointer to where it lies."""


class DeadLetter(NamedTuple):
    """Where a record came from and why it could not be handled. Strings are cut, so that headers stay small."""

    topic: str
    partition: int
    offset: int
    group: str
    worker: str
    error_kind: str
    error: str
    at: str  # ISO 8601, UTC
    bom_version: str = ""
    pointer: bool = False

    def to_headers(self, original: Headers) -> Headers:
        """The original headers, then ours. ``ce_*`` of the original are kept, so that a replay has them."""
        ours = [
            (f"{PREFIX}{name}", _text(value)[:1000].encode("utf-8", "replace"))
            for name, value in self._asdict().items()
        ]
        return (*(row for row in original if not row[0].startswith(PREFIX)), *ours)

    @classmethod
    def from_headers(cls, headers: Headers) -> DeadLetter | None:
        """Read one back; None where the headers are not those of a dead letter."""
        values = {name: header(headers, f"{PREFIX}{name}") for name in cls._fields}
        if values["topic"] is None or values["partition"] is None or values["offset"] is None:
            return None
        try:
            partition, offset = int(values["partition"]), int(values["offset"])
        except ValueError:
            return None
        text = {name: value or "" for name, value in values.items()}
        return cls(
            text["topic"], partition, offset, text["group"], text["worker"], text["error_kind"], text["error"],
            text["at"], text["bom_version"], text["pointer"] == "true",
        )  # fmt: skip


class Replayed(NamedTuple):
    """The mark of a replay: an empty record on the dead letters' topic, in the partition of the dead letter.

    It stands behind the dead letter that it is about, so retention never removes it first.
    """

    offset: int  # of the dead letter, in the mark's own partition
    operator: str
    reason: str
    at: str  # ISO 8601, UTC

    def to_headers(self) -> Headers:
        return tuple(
            (f"{REPLAYED_PREFIX}{name}", _text(value)[:1000].encode("utf-8", "replace"))
            for name, value in self._asdict().items()
        )

    @classmethod
    def from_headers(cls, headers: Headers) -> Replayed | None:
        """Read one back; None where the headers are not those of a mark."""
        values = {name: header(headers, f"{REPLAYED_PREFIX}{name}") for name in cls._fields}
        if values["offset"] is None or not values["offset"].isdecimal():
            return None
        return cls(int(values["offset"]), values["operator"] or "", values["reason"] or "", values["at"] or "")


def original_headers(headers: Headers) -> Headers:
    """The headers as they were before the record was set aside."""
    return tuple(row for row in headers if not row[0].startswith(PREFIX))


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
