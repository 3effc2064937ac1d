"""From bytes to a handler and back: decode, handle, encode; the class of an error is the record's fate.

BadMessage -> dead letter, the next record goes on. DependencyUnavailable -> tried again here, nothing is committed; the
pump's watchdog stops the process when it lasts. FatalError -> the process stops. Anything else is a bug that this
record met: a few more tries, then a dead letter.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any

from schemas.codec import decode, encode
from schemas.drafts import Draft
from schemas.errors import BadMessage, BadMessageKind, BomError, DependencyUnavailable, FatalError, SettingsError
from schemas.headers import CE_TYPE, Trace, event_id_of, header, headers_for, trace_of
from schemas.ids import event_id
from schemas.message import Emitted, Message
from schemas.topics import DEAD_LETTERS, Topic
from workers.runtime.careful_consumer import UNREADABLE
from workers.runtime.dead_letters import DeadLetterBox, DeadLetterLimit
from workers.runtime.logs import event, places
from workers.runtime.metrics import Metrics
from workers.runtime.naming import Names
from workers.runtime.origin import Origin
from workers.runtime.producing import OutputTooLarge
from workers.runtime.records import InRecord, OutRecord
from workers.runtime.route import Route
from workers.runtime.settings import Settings

Handler = Callable[[Any, Origin], Awaitable[Sequence[Message]]]
"""Takes one message of its topic and returns messages. It does not publish, commit, sleep or know Kafka."""

DEAD_LETTER_ROOM = 64 * 1024
"""Bytes that a dead letter may be larger than any other record: the headers that say why."""

_BUG_PAUSES_S = (0.1, 0.5)
_RETRY_S, _RETRY_MOST_S = 0.2, 5.0


def route(
    topic: Topic,
    handler: Handler,
    settings: Settings,
    *,
    worker: str,
    metrics: Metrics,
    now: Callable[[], datetime],
    bom_version: str = "",
) -> Route:
    """``handler`` for the messages of ``topic``, as a route of ``worker``."""
    names = Names(settings.topic_prefix)
    group = settings.group_prefix + worker
    box = DeadLetterBox(
        topic=names.full(DEAD_LETTERS), limit_bytes=settings.max_message_bytes + DEAD_LETTER_ROOM, group=group,
        worker=worker, bom_version=bom_version,
    )  # fmt: skip
    limit = DeadLetterLimit(
        worker=worker, topic=names.full(topic),
        ratio=settings.dead_letter_ratio, window=settings.dead_letter_window, in_a_row=settings.dead_letters_in_a_row,
    )  # fmt: skip
    handling = Handling(topic, handler, names=names, worker=worker, box=box, limit=limit, metrics=metrics, now=now)
    return Route(names.full(topic), group, handling, handling.oversize)


class Handling:
    """The ``Process`` of one topic."""

    def __init__(
        self,
        topic: Topic,
        handler: Handler,
        *,
        names: Names,
        worker: str,
        box: DeadLetterBox,
        limit: DeadLetterLimit,
        metrics: Metrics,
        now: Callable[[], datetime],
    ) -> None:
        self._topic, self._handler, self._names = topic, handler, names
        self._source = f"/assay/{worker}"
        self._box, self._limit, self._metrics, self._now = box, limit, metrics, now

    async def __call__(self, record: InRecord) -> list[OutRecord]:
        try:
            message, origin = self._read(record)
            outs = await self._handled(message, origin)
        except BadMessage as bad:
            return [self._set_aside(record, bad.kind, str(bad))]
        self._limit.good()
        return outs

    def oversize(self, record: InRecord, error: OutputTooLarge) -> list[OutRecord]:
        """Outputs of which one is too large are not produced at all: the record is set aside."""
        return [self._set_aside(record, BadMessageKind.TOO_LARGE, str(error))]

    def _read(self, record: InRecord) -> tuple[Message, Origin]:
        if (unreadable := header(record.headers, UNREADABLE)) is not None:
            raise BadMessage(BadMessageKind.NOT_JSON, f"the record cannot be read: {unreadable}")
        decoded = decode(self._topic, record.value, ce_type=header(record.headers, CE_TYPE))
        given = event_id_of(record.headers)
        return decoded.message, Origin(
            event_id=given or _own_id(decoded.message, record),
            uri=record.uri,
            trace=trace_of(record.headers),
            flags=decoded.flags,
        )

    async def _handled(self, message: Message, origin: Origin) -> list[OutRecord]:
        bugs, retry_s = 0, _RETRY_S
        while True:
            try:
                made, at = await self._handler(message, origin), self._now()
                return [self._written(one, origin.trace, at) for one in made]
            except (BadMessage, FatalError, BomError, SettingsError):
                raise
            except DependencyUnavailable as unavailable:
                event("dependency_unavailable", level=logging.WARNING, reason=unavailable, uri=origin.uri)
                self._metrics.add("assay_dependency_retries_total", topic=self._topic.name)
                await asyncio.sleep(retry_s)
                retry_s = min(retry_s * 2, _RETRY_MOST_S)
            except Exception as bug:
                # One record's bug must not stop the others; the dead-letter limit stops a build that is broken.
                if bugs == len(_BUG_PAUSES_S):
                    detail = f"{type(bug).__name__} at {places(bug.__traceback__)}"
                    raise BadMessage(BadMessageKind.HANDLER_FAILED, detail) from bug
                event("handler_failed", level=logging.WARNING, error=bug, uri=origin.uri)
                await asyncio.sleep(_BUG_PAUSES_S[bugs])
                bugs += 1

    def _written(self, message: Message, trace: Trace, at: datetime) -> OutRecord:
        if not isinstance(message, Emitted):
            raise TypeError(f"a handler returned a {type(message).__name__}, which has no event id")
        headers = headers_for(message, event_id=message.event_id, source=self._source, at=at, trace=trace)
        return OutRecord(self._names.of(message), message.key().encode(), encode(message), headers)

    def _set_aside(self, record: InRecord, kind: BadMessageKind, error: str) -> OutRecord:
        self._limit.bad()
        self._metrics.add("assay_dead_letters_total", topic=self._topic.name, kind=kind)
        event("dead_letter", level=logging.WARNING, kind=kind, reason=error, uri=record.uri)
        return self._box.letter(record, kind=kind, error=error, at=self._now())


def _own_id(message: Message, record: InRecord) -> str:
    """The event id of a record without a usable ``ce_id``: derived from what it says, so that a replay repeats it."""
    if isinstance(message, Draft):
        return message.default_event_id(record.topic)
    if isinstance(message, Emitted):
        return message.event_id
    return event_id(message.type, record.topic, record.partition, record.offset)
