"""Between records and messages: decode, hand over, encode. An error's class is its record's fate."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from schemas.codec import decode, encode
from schemas.dead_letter import POINTER_TYPE, DeadLetter
from schemas.drafts import Draft
from schemas.errors import AssayError, BadMessage, BadMessageKind
from schemas.headers import CE_TYPE, event_id_of, header, headers_for, trace_of
from schemas.message import Emitted, Message
from schemas.topics import DEAD_LETTER_BYTES, DEAD_LETTERS, Topic
from workers.runtime.logs import event
from workers.runtime.naming import Names
from workers.runtime.origin import Origin
from workers.runtime.records import InRecord, OutRecord

Handler = Callable[[Any, Origin], Awaitable[list[Message]]]
"""One message in, messages out. It raises BadMessage for one that it can never handle."""

RETRY_PAUSES_S = (0.1, 1.0)
"""A handler that breaks is asked again after these, then the record goes to the dead letters."""


class Identity(NamedTuple):
    """Who is acting: on every record of ours, so that a dead letter or a verdict names its writer."""

    role: str
    group: str
    worker: str  # host and process
    bom_version: str = ""

    @property
    def source(self) -> str:
        """CloudEvents source."""
        return f"/assay/{self.role}"


class Observer(Protocol):
    """Told of every record's fate, for metrics and for the dead-letter limit."""

    def handled(self, topic: str, messages: Sequence[Message]) -> None: ...

    def dead_letter(self, topic: str, kind: BadMessageKind) -> None:
        """Raises FatalError when too many go this way."""
        ...


class Handling:
    """A handler for the records of one topic: what a pump calls for each record."""

    def __init__(
        self,
        topic: Topic,
        handler: Handler,
        *,
        names: Names,
        identity: Identity,
        now: Callable[[], datetime],
        observer: Observer,
    ) -> None:
        self._topic, self._handler = topic, handler
        self._names, self._identity, self._now, self._observer = names, identity, now, observer

    async def __call__(self, record: InRecord) -> Sequence[OutRecord]:
        """The records that this one leads to. DependencyUnavailable and FatalError leave it: they stop the worker."""
        try:
            message, origin = self._read(record)
            made = await self._handle(message, origin)
        except BadMessage as error:
            self._observer.dead_letter(self._topic.name, error.kind)
            return [self.dead_letter(record, error)]
        self._observer.handled(self._topic.name, made)
        at = self._now()
        return [_encoded(one, self._names, self._identity.source, at, origin) for one in made]

    def _read(self, record: InRecord) -> tuple[Message, Origin]:
        message, flags = decode(self._topic, record.value, ce_type=header(record.headers, CE_TYPE))
        given = event_id_of(record.headers)
        return message, Origin(given or _own_id(message, record.topic), record.uri, trace_of(record.headers), flags)

    async def _handle(self, message: Message, origin: Origin) -> list[Message]:
        """Only what nobody foresaw is tried again: an error of ours has its fate already."""
        for pause_s in (*RETRY_PAUSES_S, None):
            try:
                return await self._handler(message, origin)
            except AssayError:
                raise
            except Exception as error:
                event("handler_failed", level=logging.ERROR, error=error, uri=origin.uri)
                if pause_s is None:
                    detail = f"the {self._identity.role} broke on it: {type(error).__name__}"
                    raise BadMessage(BadMessageKind.HANDLER_FAILED, detail) from error
                await asyncio.sleep(pause_s)
        raise AssertionError("unreachable")

    def dead_letter(self, record: InRecord, error: BadMessage) -> OutRecord:
        """The record as it was, with why in the headers. One that is too large even so becomes a pointer."""
        who = self._identity
        letter = DeadLetter(
            record.topic, record.partition, record.offset, who.group, who.worker, error.kind, str(error),
            self._now().isoformat(), who.bom_version,
        )  # fmt: skip
        out = OutRecord(self._names.full(DEAD_LETTERS), record.key, record.value, letter.to_headers(record.headers))
        if out.size <= DEAD_LETTER_BYTES and (record.key is not None or record.value is not None):
            return out
        pointer = letter._replace(pointer=True)
        headers = ((CE_TYPE, POINTER_TYPE.encode()), *pointer.to_headers(()))
        return OutRecord(self._names.full(DEAD_LETTERS), (record.key or b"")[:256] or None, b"{}", headers)


def _own_id(message: Message, topic: str) -> str:
    """The id of a record that came without ``ce_id``."""
    if isinstance(message, Draft):
        return message.default_event_id(topic)
    return str(getattr(message, "event_id", ""))


def _encoded(message: Message, names: Names, source: str, at: datetime, origin: Origin) -> OutRecord:
    event_id = message.event_id if isinstance(message, Emitted) else _own_id(message, names.of(message))
    headers = headers_for(message, event_id=event_id, source=source, at=at, trace=origin.trace)
    return OutRecord(names.of(message), message.key().encode(), encode(message), headers)
