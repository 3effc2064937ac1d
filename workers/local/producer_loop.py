"""A producer's side of the loop: publish first drafts, answer revision requests, hear how it ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import aclosing
from datetime import datetime

from schemas.codec import decode
from schemas.drafts import Draft
from schemas.errors import BadMessage, DependencyUnavailable
from schemas.headers import CE_TYPE, header, trace_of
from schemas.message import Message
from schemas.revisions import RevisionRequest
from schemas.topics import REVISION_REQUESTS, Topic
from workers.local.stage import Stage
from workers.publish.records import draft_record
from workers.runtime.reading import follow
from workers.runtime.records import InRecord

Answer = Callable[[RevisionRequest], Draft | None]
Heard = Callable[[Message | None, InRecord], None]
"""Told of every record on the topics; the message is None where the topic carries bytes that are nobody's message."""

PATIENCE_S = 120.0
_BATCH = 200


class ProducerLoop:
    """``answer`` makes the next draft (None: no answer), ``heard`` is told of every message on ``topics``."""

    def __init__(
        self,
        stage: Stage,
        *,
        source: str,
        answer: Answer,
        heard: Heard,
        topics: Sequence[Topic],
        now: Callable[[], datetime],
    ) -> None:
        self._stage, self._source, self._answer, self._heard = stage, source, answer, heard
        self._topics, self._now = tuple(dict.fromkeys((REVISION_REQUESTS, *topics))), now

    async def publish(self, drafts: Iterable[Draft]) -> None:
        """Publish drafts, confirmed."""
        names, at = self._stage.names, self._now()
        records = [draft_record(draft, names, source=self._source, at=at) for draft in drafts]
        for start in range(0, len(records), _BATCH):
            await self._stage.producer.produce(records[start : start + _BATCH])

    async def until(self, done: Callable[[], bool]) -> None:
        """Answer and listen until ``done``; it is asked after every message.

        Raises DependencyUnavailable when nothing is heard for PATIENCE_S.
        """
        full = [self._stage.names.full(topic) for topic in self._topics]
        async with aclosing(follow(self._stage.kafka, full, from_beginning=True)) as records:
            while not done():
                await self._take(await self._next(records))

    async def _next(self, records: AsyncIterator[InRecord]) -> InRecord:
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await anext(records)
        except TimeoutError as error:
            raise DependencyUnavailable(f"the workers have said nothing for {PATIENCE_S:g} s; see their log") from error

    async def run(self, drafts: Iterable[Draft], done: Callable[[], bool]) -> None:
        """Publish, and listen meanwhile, until ``done``."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.publish(drafts))
                await self.until(done)
        except ExceptionGroup as group_of_one:
            raise group_of_one.exceptions[0] from None

    async def _take(self, record: InRecord) -> None:
        message = self._read(record)
        if isinstance(message, RevisionRequest) and (draft := self._answer(message)) is not None:
            at, trace = self._now(), trace_of(record.headers)
            sent = draft_record(draft, self._stage.names, source=self._source, at=at, trace=trace)
            await self._stage.producer.produce([sent])
        self._heard(message, record)

    def _read(self, record: InRecord) -> Message | None:
        topic = self._stage.names.topic(record.topic)
        if topic is None or not topic.messages:
            return None
        try:
            return decode(topic, record.value, ce_type=header(record.headers, CE_TYPE)).message
        except BadMessage:
            return None  # not ours to mend; whoever reads for a living dead-letters it
