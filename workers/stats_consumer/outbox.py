"""What is to be published: saved with the counts it follows from, produced afterwards, deleted with the next save.

A crash in between publishes it again, with the same ids and keys.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping

import orjson

from workers.runtime.records import OutRecord

_PREFIX = "x|"


class Outbox:
    """Records in their order, and the rows that hold them."""

    def __init__(self, rows: Mapping[str, bytes] | None = None) -> None:
        self._waiting = {name: row for name, row in sorted((rows or {}).items()) if name.startswith(_PREFIX)}
        self._next = 1 + max((int(name.removeprefix(_PREFIX)) for name in self._waiting), default=0)
        self._changes: dict[str, bytes | None] = {}

    def put(self, outs: Iterable[OutRecord]) -> None:
        for out in outs:
            name = f"{_PREFIX}{self._next:012d}"
            self._next += 1
            self._waiting[name] = self._changes[name] = _row(out)

    def changes(self) -> dict[str, bytes | None]:
        """Rows changed since the last call."""
        changes, self._changes = self._changes, {}
        return changes

    def rows(self) -> dict[str, bytes | None]:
        return dict(self._waiting)

    def waiting(self) -> list[OutRecord]:
        return [_record(row) for row in self._waiting.values()]

    def sent(self) -> None:
        """All that was waiting has been produced."""
        self._changes.update(dict.fromkeys(self._waiting))
        self._waiting.clear()


def _row(out: OutRecord) -> bytes:
    headers = [[name, _text(value)] for name, value in out.headers]
    return orjson.dumps([out.topic, _text(out.key), _text(out.value), headers])


def _record(row: bytes) -> OutRecord:
    topic, key, value, headers = orjson.loads(row)
    return OutRecord(topic, _bytes(key), _bytes(value), tuple((name, _bytes(v)) for name, v in headers))


def _text(raw: bytes | None) -> str | None:
    return None if raw is None else b64encode(raw).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)
