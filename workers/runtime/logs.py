"""JSON logs: one line an event. No draft text, no secrets, no control characters.

Messages of foreign exceptions are left out, because libraries quote their input (a draft): class and place stay.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Iterable
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, TextIO

from schemas.errors import AssayError
from workers.runtime.settings import LogLevel

_LIBRARIES = ("aiokafka", "faststream", "aiohttp", "asyncio", "httpx", "httpcore")
_MAX_CHARS = 500
_MASK = "***"

_log = logging.getLogger("assay")


def event(name: str, *, level: int = logging.INFO, error: BaseException | None = None, **fields: object) -> None:
    """Log one event, e.g. ``event("partitions_assigned", partitions=3)``. Fields are numbers and short texts."""
    if _log.isEnabledFor(level):
        _log.log(level, name, exc_info=error, extra={"fields": fields})


def set_up(level: LogLevel, *, worker: str, secrets: Iterable[str] = (), stream: TextIO | None = None) -> None:
    """Send all logs of this process to ``stream`` (standard error) as JSON lines."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines(worker, secrets))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    _log.setLevel(level.upper())
    for library in _LIBRARIES:
        # Never lower: aiokafka's DEBUG lines hold keys and values.
        logging.getLogger(library).setLevel(logging.WARNING)


class JsonLines(logging.Formatter):
    """A log record as one line of ASCII JSON."""

    def __init__(self, worker: str, secrets: Iterable[str] = ()) -> None:
        super().__init__()
        self._worker = worker
        self._secrets = sorted({secret for secret in secrets if secret}, key=len, reverse=True)

    def format(self, record: logging.LogRecord) -> str:
        ours = record.name == "assay"
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "worker": self._worker,
            "event": record.getMessage() if ours else "library",
        }
        if not ours:
            line |= {"logger": record.name, "text": self._safe(record.getMessage())}
        line |= {name: self._safe(value) for name, value in getattr(record, "fields", {}).items()}
        if record.exc_info and record.exc_info[1] is not None:
            line |= self._error(record.exc_info[1])
        return json.dumps(line)

    def _safe(self, value: object) -> object:
        if value is None or isinstance(value, bool | int | float):
            return value
        text = str(value)
        for secret in self._secrets:
            text = text.replace(secret, _MASK)
        return text[:_MAX_CHARS]

    def _error(self, error: BaseException) -> dict[str, object]:
        said: dict[str, object] = {"error": type(error).__name__, "where": places(error.__traceback__)}
        if isinstance(error, AssayError):
            said["reason"] = self._safe(error)
        return said


def places(trace: TracebackType | None) -> str:
    """Where an error came up, innermost last: ``file.py:12 name < ...``, the last five frames."""
    frames = traceback.extract_tb(trace)[-5:]
    return " > ".join(f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} {frame.name}" for frame in frames)
