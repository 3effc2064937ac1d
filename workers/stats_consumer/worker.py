"""The stats worker's loop: read, fold, save with the offsets, publish; every event counts once.

One worker counts at a time: figures need every partition, and a week of traffic is minutes of work for one. A second
one waits for the lease. Why this is no consumer group and no pump: docs/adr/0004-stats-keeps-its-own-offsets.md.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple, Protocol, TypeVar

from schemas.codec import decode, encode
from schemas.dead_letter import DeadLetter
from schemas.errors import BadMessage, DependencyUnavailable
from schemas.headers import CE_TYPE, Trace, header, headers_for
from schemas.message import Message
from schemas.topics import CANARY, DEAD_LETTERS, LABELS, SAMPLES, TELEMETRY, Topic
from workers.runtime.careful_consumer import UNREADABLE
from workers.runtime.connection import Connection
from workers.runtime.dead_letters import DeadLetterBox, DeadLetterLimit
from workers.runtime.logs import event
from workers.runtime.metrics import Metrics
from workers.runtime.naming import Names
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.records import InRecord, OutRecord
from workers.stats_consumer.fold import Fold, Rows
from workers.stats_consumer.outbox import Outbox
from workers.stats_consumer.reader import Offsets, Reader, reading
from workers.stats_consumer.store import StateLost, StatsStore

Answer = TypeVar("Answer")

LAST_WORDS_S = 4.0
"""How long it may go on after it was told to stop: Kafka or Redis may have gone before it."""

READS: tuple[Topic, ...] = (TELEMETRY, LABELS, SAMPLES, CANARY, DEAD_LETTERS)

_BATCH, _POLL_MS = 5_000, 100
_RETRY_S, _STANDBY_S = 0.5, 1.0


class Assesses(Protocol):
    """Makes messages of counts: what is said now, and rows to remember what was said."""

    def assess(self, fold: Fold, *, now: datetime) -> Sequence[Message]: ...
    def changes(self) -> Rows: ...
    def rows(self) -> Rows: ...


class Options(NamedTuple):
    """Times in seconds. ``patience_s``: without Redis for so long the worker stops."""

    assess_every_s: float = 60.0
    patience_s: float = 300.0


class StatsWorker:
    """Runs until ``stop``. ``new_fold`` and ``new_assurance`` make them from stored rows (none: empty ones)."""

    def __init__(
        self,
        store: StatsStore,
        producer: ConfirmedProducer,
        kafka: Connection,
        names: Names,
        *,
        new_fold: Callable[[Mapping[str, bytes]], Fold],
        new_assurance: Callable[[Mapping[str, bytes]], Assesses],
        box: DeadLetterBox,
        limit: DeadLetterLimit,
        metrics: Metrics,
        now: Callable[[], datetime],
        options: Options = Options(),  # noqa: B008 - frozen
    ) -> None:
        self._store, self._producer, self._kafka, self._names = store, producer, kafka, names
        self._new_fold, self._new_assurance = new_fold, new_assurance
        self._box, self._limit, self._metrics, self._now, self._options = box, limit, metrics, now, options
        self.counting = False

    async def run(self, stop: asyncio.Event, *, ready: Callable[[], None] | None = None) -> None:
        """Until ``stop``, and a bounded while longer: what is not saved by then is counted again from the topics.

        Raises FatalError when another worker has taken over, DependencyUnavailable when Redis or Kafka stay away.
        """
        work, stopping = asyncio.create_task(self._run(stop, ready)), asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({work, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                await asyncio.wait({work}, timeout=LAST_WORDS_S)
            if work.done():
                work.result()
            else:
                event("left_without_goodbye", level=logging.WARNING)
        finally:
            for task in (work, stopping):
                task.cancel()
            await asyncio.gather(work, stopping, return_exceptions=True)

    async def _run(self, stop: asyncio.Event, ready: Callable[[], None] | None) -> None:
        while not await self._patiently(self._store.lease):
            if await _stopped(stop, _STANDBY_S):
                return
        rows = await self._patiently(self._store.claim)
        self._fold, self._assurance, self._outbox = self._new_fold(rows), self._new_assurance(rows), Outbox(rows)
        event("started", rows=len(rows), rebuilt=not rows)
        topics = [self._names.full(topic) for topic in READS]
        async with reading(self._kafka, topics, _offsets(rows)) as reader:
            self.counting = True
            if ready is not None:
                ready()
            try:
                await self._work(reader, stop)
            finally:
                self.counting = False
        await self._store.leave()

    async def _work(self, reader: Reader, stop: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        assess_at = lease_at = loop.time()
        while not stop.is_set():
            batches = await reader.poll(most=_BATCH, timeout_ms=_POLL_MS)
            for (name, _), records in batches.items():
                self._take_all(name, records)
            if loop.time() >= assess_at and reader.caught_up:
                self._assess()
                assess_at = loop.time() + self._options.assess_every_s
            await self._save(reader, batches)
            await self._publish()
            if loop.time() >= lease_at:
                await self._patiently(self._store.lease)
                lease_at = loop.time() + _STANDBY_S
            self._count(reader, sum(map(len, batches.values())))
        self._assess()
        await self._save(reader, ())
        await self._publish()
        await self._save(reader, ())

    def _take_all(self, name: str, records: Sequence[InRecord]) -> None:
        topic = self._names.topic(name)
        assert topic is not None
        take = self._take_dead_letter if topic is DEAD_LETTERS else partial(self._take, topic)
        for record in records:
            take(record)

    def _take_dead_letter(self, record: InRecord) -> None:
        if letter := DeadLetter.from_headers(record.headers):
            at = datetime.fromtimestamp((record.timestamp_ms or 0) / 1000, tz=UTC)
            self._fold.dead_letter(letter.topic, letter.error_kind, at=at)

    def _take(self, topic: Topic, record: InRecord) -> None:
        try:
            if record.value is None and (unreadable := header(record.headers, UNREADABLE)) is not None:
                event("unreadable", level=logging.WARNING, uri=record.uri, reason=unreadable)
            self._fold.apply(decode(topic, record.value, ce_type=header(record.headers, CE_TYPE)).message)
        except BadMessage as bad:
            self._limit.bad()
            self._metrics.add("assay_dead_letters_total", topic=topic.name, kind=bad.kind)
            event("dead_letter", level=logging.WARNING, kind=bad.kind, reason=bad, uri=record.uri)
            self._outbox.put([self._box.letter(record, kind=bad.kind, error=str(bad), at=self._now())])
        else:
            self._limit.good()

    def _assess(self) -> None:
        said = self._assurance.assess(self._fold, now=self._now())
        self._outbox.put([self._out(message) for message in said])

    def _out(self, message: Message) -> OutRecord:
        id_ = str(getattr(message, "event_id"))  # noqa: B009 - reports and alerts have one, Message does not say so
        headers = headers_for(message, event_id=id_, source="/assay/stats", at=self._now(), trace=Trace())
        return OutRecord(self._names.of(message), message.key().encode(), encode(message), headers)

    async def _save(self, reader: Reader, read: Iterable[tuple[str, int]]) -> None:
        rows = {**self._fold.changes(), **self._assurance.changes(), **self._outbox.changes()}
        rows |= {_offset_row(*at): str(reader.next[at]).encode() for at in read}
        if rows:
            await self._patiently(lambda: self._written(rows, reader))

    async def _written(self, rows: Rows, reader: Reader) -> None:
        try:
            await self._store.save(rows)
        except StateLost as lost:
            event("state_lost", level=logging.WARNING, reason=lost)
            offsets: Rows = {_offset_row(*at): str(offset).encode() for at, offset in reader.next.items()}
            whole = {**self._fold.snapshot(), **self._assurance.rows(), **self._outbox.rows(), **offsets}
            await self._store.restore(whole)

    async def _publish(self) -> None:
        if waiting := self._outbox.waiting():
            await self._producer.produce(waiting)
            self._outbox.sent()

    async def _patiently(self, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """Ask Redis until it answers. Nothing is read meanwhile. Raises DependencyUnavailable when that lasts."""
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + self._options.patience_s
        while True:
            try:
                return await ask()
            except DependencyUnavailable as unavailable:
                if loop.time() >= give_up_at:
                    raise
                event("dependency_unavailable", level=logging.WARNING, reason=unavailable)
                await asyncio.sleep(_RETRY_S)

    def _count(self, reader: Reader, records: int) -> None:
        if records:
            self._metrics.add("assay_stats_events_total", records)
        for topic, lag in reader.lag().items():
            known = self._names.topic(topic)
            self._metrics.set("assay_stats_lag_records", lag, topic=known.name if known else topic)


def _offset_row(topic: str, partition: int) -> str:
    return f"o|{topic}|{partition}"


def _offsets(rows: Mapping[str, bytes]) -> Offsets:
    stored: Offsets = {}
    for name, row in rows.items():
        if name.startswith("o|"):
            topic, partition = name[2:].rsplit("|", 1)
            stored[topic, int(partition)] = int(row)
    return stored


async def _stopped(stop: asyncio.Event, wait_s: float) -> bool:
    try:
        async with asyncio.timeout(wait_s):
            await stop.wait()
    except TimeoutError:
        return False
    return True
