"""Confirmed produce: when ``produce`` returns, every record has been written by all replicas in sync, in order, once.

aiokafka repeats transient errors by itself for as long as the producer is idempotent. What comes through is tried again
a few times here and is fatal then: the worker stops loudly, and since nothing was committed, nothing is lost.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, KafkaTimeoutError, MessageSizeTooLargeError

from schemas.errors import AssayError, DependencyUnavailable, FatalError
from workers.runtime.connection import Connection
from workers.runtime.records import OutRecord

_PAUSES_S = (0.1, 0.5, 2.0)
_BATCH_BYTES = 256 * 1024  # a batch counts as one message for the topic's size limit: well below it


class OutputTooLarge(AssayError):
    """An output is above its topic's limit. Nothing of its group was sent; it needs another fate than trying again."""

    def __init__(self, out: OutRecord, limit: int) -> None:
        super().__init__(f"an output for {out.topic} has {out.size} bytes; at most {limit}")
        self.out, self.limit = out, limit


class ConfirmedProducer:
    """The process's one producer. ``start`` before use, ``stop`` when the last pump has stopped."""

    def __init__(
        self,
        kafka: Connection,
        *,
        max_message_bytes: int,
        limits: Mapping[str, int] = MappingProxyType({}),
        linger_ms: int = 0,
        pauses_s: Sequence[float] = _PAUSES_S,
    ) -> None:
        """``limits`` are topics with another limit than ``max_message_bytes``."""
        self._kafka_options, self._linger_ms = kafka.options(), linger_ms
        self._limit, self._limits = max_message_bytes, limits
        self._pauses_s = (*pauses_s, None)
        self._producer: AIOKafkaProducer | None = None
        self._waiting = 0
        self._last_news = 0.0

    async def start(self) -> None:
        """Raises DependencyUnavailable when Kafka does not answer."""
        producer = AIOKafkaProducer(
            **self._kafka_options,
            acks="all",
            enable_idempotence=True,
            linger_ms=self._linger_ms,
            max_batch_size=min(_BATCH_BYTES, self._limit),
            max_request_size=max(self._limit, *self._limits.values(), 0) + _BATCH_BYTES,
        )
        try:
            await producer.start()
        except KafkaError as error:
            await producer.stop()
            raise DependencyUnavailable(f"no producer: {error}") from error
        self._producer = producer

    async def stop(self) -> None:
        if self._producer is not None:
            producer, self._producer = self._producer, None
            await producer.stop()

    @property
    def ready(self) -> bool:
        return self._producer is not None

    def silent_for_s(self) -> float:
        """Seconds since Kafka last confirmed anything, while something waits for it; 0 when nothing waits."""
        return time.monotonic() - self._last_news if self._waiting else 0.0

    async def produce(self, outs: Sequence[OutRecord]) -> None:
        """Write all of ``outs``, in their order.

        Raises OutputTooLarge before anything is sent, FatalError when Kafka refuses or transient errors last.
        """
        self._check_sizes(outs)
        for pause_s in self._pauses_s:
            outs, error = await self._send(outs)
            if error is None:
                return
            if pause_s is None or not (error.retriable or isinstance(error, KafkaTimeoutError)):
                raise _fatal(outs[0], error) from error
            await asyncio.sleep(pause_s)

    def _check_sizes(self, outs: Sequence[OutRecord]) -> None:
        for out in outs:
            limit = self._limits.get(out.topic, self._limit)
            if out.size > limit:
                raise OutputTooLarge(out, limit)

    async def _send(self, outs: Sequence[OutRecord]) -> tuple[list[OutRecord], KafkaError | None]:
        """Send in order and await all; what was not confirmed, with the first error."""
        if self._producer is None:
            raise FatalError("the producer is not running")
        if not self._waiting:
            self._last_news = time.monotonic()
        self._waiting += 1
        try:
            return await self._confirm(self._producer, outs)
        finally:
            self._waiting -= 1

    async def _confirm(
        self, producer: AIOKafkaProducer, outs: Sequence[OutRecord]
    ) -> tuple[list[OutRecord], KafkaError | None]:
        futures: list[asyncio.Future[object]] = []
        error: KafkaError | None = None
        for topic, key, value, headers in outs:
            try:
                futures.append(await producer.send(topic, value, key=key, headers=list(headers)))
            except KafkaError as refused:
                error = refused
                break  # later ones must not overtake it
        unconfirmed = list(outs[len(futures) :])
        for out, future in zip(outs, futures, strict=False):
            try:
                await future
            except KafkaError as failed:
                error = error or failed
                unconfirmed.append(out)
        self._last_news = time.monotonic()
        return unconfirmed, error


def _fatal(out: OutRecord, error: KafkaError) -> FatalError:
    if isinstance(error, MessageSizeTooLargeError):
        return FatalError(
            f"Kafka refuses records of {out.size} bytes on {out.topic}: lower ASSAY_MAX_MESSAGE_BYTES "
            "or raise the topic's max.message.bytes"
        )
    return FatalError(f"cannot produce to {out.topic}: {error}")
