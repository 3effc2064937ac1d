"""Confirmed produce: when ``produce`` returns, every record has been written by all replicas in sync, in order, once.

aiokafka repeats transient errors by itself for as long as the producer is idempotent. What comes through is tried again
a few times here and is fatal then: the worker stops loudly, and since nothing was committed, nothing is lost.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, KafkaTimeoutError, MessageSizeTooLargeError

from schemas.errors import AssayError, DependencyUnavailable, FatalError
from workers.runtime.batching import Batcher
from workers.runtime.connection import Connection
from workers.runtime.records import OutRecord

Confirmed = Callable[[FatalError | None], None]

_PAUSES_S = (0.1, 0.5, 2.0)
_STOP_S = 5.0
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
        stop_timeout_s: float = _STOP_S,
    ) -> None:
        """``limits`` are topics with another limit than ``max_message_bytes``."""
        self._kafka_options, self._linger_ms = kafka.options(), linger_ms
        self._limit, self._limits = max_message_bytes, limits
        self._pauses_s, self._stop_timeout_s = tuple(pauses_s), stop_timeout_s
        self._producer: AIOKafkaProducer | None = None
        self._batcher: Batcher
        self._repeats: set[asyncio.Task[None]] = set()
        self._waiting = 0
        self._last_news = 0.0

    async def start(self) -> None:
        """Raises DependencyUnavailable when Kafka does not answer."""
        producer = AIOKafkaProducer(
            **self._kafka_options,
            acks="all",
            enable_idempotence=True,
            max_batch_size=min(_BATCH_BYTES, self._limit),
            max_request_size=max(self._limit, *self._limits.values(), 0) + _BATCH_BYTES,
        )
        try:
            await producer.start()
        except KafkaError as error:
            await producer.stop()
            raise DependencyUnavailable(f"no producer: {error}") from error
        self._producer = producer
        self._batcher = Batcher(producer, linger_s=self._linger_ms / 1000)

    async def stop(self) -> None:
        """Send what was handed over and close; bounded, since aiokafka would wait for a broker that is gone."""
        if self._producer is None:
            return
        producer, self._producer = self._producer, None
        try:
            async with asyncio.timeout(self._stop_timeout_s):
                await producer.flush()
        except TimeoutError:  # what is dropped was not confirmed, hence not committed: it is done again
            await _abandon(producer)
        else:
            await producer.stop()
        await self._batcher.stop()

    @property
    def ready(self) -> bool:
        return self._producer is not None

    def silent_for_s(self) -> float:
        """Seconds since Kafka last confirmed anything, while something waits for it; 0 when nothing waits."""
        return time.monotonic() - self._last_news if self._waiting else 0.0

    async def produce(self, outs: Sequence[OutRecord]) -> None:
        """Write all of ``outs``, in their order, and wait for it.

        Raises OutputTooLarge before anything is sent, FatalError when Kafka refuses or transient errors last.
        """
        confirmed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def settle(error: FatalError | None) -> None:
            if not confirmed.done():
                confirmed.set_result(None) if error is None else confirmed.set_exception(error)

        await self.send(outs, settle)
        await confirmed

    async def send(self, outs: Sequence[OutRecord], confirmed: Confirmed) -> None:
        """Hand ``outs`` over in their order; ``confirmed`` is called once, later, with None or what was fatal.

        Waits only while a batch is full. Raises OutputTooLarge before anything is sent.
        """
        for out in outs:
            limit = self._limits.get(out.topic, self._limit)
            if out.size > limit:
                raise OutputTooLarge(out, limit)
        if not self._waiting:
            self._last_news = time.monotonic()
        self._waiting += 1
        try:
            await self._hand_over(outs, confirmed)
        except BaseException:
            self._waiting -= 1
            raise

    async def _hand_over(self, outs: Sequence[OutRecord], confirmed: Confirmed, tries: int = 0) -> None:
        if self._producer is None:
            raise FatalError("the producer is not running")
        group = _Group(outs, confirmed, tries, complete=self._look)
        for number, out in enumerate(outs):
            try:
                await self._batcher.add(number, out, group.settle)
            except KafkaError as refused:
                group.refuse(number, refused)
                break  # later ones must not overtake it
        group.handed_over()

    def _look(self, group: _Group) -> None:
        """All of a group that was handed over is settled."""
        self._last_news = time.monotonic()
        if group.error is None:
            self._settle(group, None)
        else:
            task = asyncio.create_task(self._repeat(group, group.error))
            self._repeats.add(task)
            task.add_done_callback(self._repeats.discard)

    async def _repeat(self, group: _Group, error: BaseException) -> None:
        """What was not confirmed, again after a pause; or fatal."""
        outs = [group.outs[number] for number in sorted(group.unconfirmed)]
        transient = isinstance(error, KafkaError) and (error.retriable or isinstance(error, KafkaTimeoutError))
        if not transient or group.tries >= len(self._pauses_s):
            self._settle(group, _fatal(outs[0], error))
            return
        await asyncio.sleep(self._pauses_s[group.tries])
        try:
            await self._hand_over(outs, group.confirmed, group.tries + 1)
        except FatalError as stopped:
            self._settle(group, stopped)

    def _settle(self, group: _Group, error: FatalError | None) -> None:
        self._waiting -= 1
        group.confirmed(error)


class _Group:
    """Records that are confirmed together. ``unconfirmed`` are the numbers of those that Kafka did not take."""

    __slots__ = ("_complete", "_open", "confirmed", "error", "outs", "tries", "unconfirmed")

    def __init__(
        self, outs: Sequence[OutRecord], confirmed: Confirmed, tries: int, *, complete: Callable[[_Group], None]
    ) -> None:
        self.outs, self.confirmed, self.tries, self._complete = outs, confirmed, tries, complete
        self._open = len(outs) + 1  # one for the handing over itself
        self.unconfirmed: list[int] = []
        self.error: BaseException | None = None

    def settle(self, number: int, error: BaseException | None) -> None:
        if error is not None:
            self.error = error
            self.unconfirmed.append(number)
        self._open -= 1
        if not self._open:
            self._complete(self)

    def refuse(self, first: int, error: BaseException) -> None:
        """The ``first`` and all after it were not handed over."""
        self.error = error
        self.unconfirmed += range(first, len(self.outs))
        self._open -= len(self.outs) - first

    def handed_over(self) -> None:
        self._open -= 1
        if not self._open:
            self._complete(self)


async def _abandon(producer: Any) -> None:
    """``AIOKafkaProducer.stop`` without its flush, which has no bound (0.14)."""
    producer._closed = True
    await producer._sender.close()
    await producer.client.close()


def _fatal(out: OutRecord, error: BaseException) -> FatalError:
    if isinstance(error, MessageSizeTooLargeError):
        return FatalError(
            f"Kafka refuses records of {out.size} bytes on {out.topic}: lower ASSAY_MAX_MESSAGE_BYTES "
            "or raise the topic's max.message.bytes"
        )
    return FatalError(f"cannot produce to {out.topic}: {error}")
