"""Reads batches of a topic and hands them to a pump. The only file that knows FastStream.

FastStream keeps the connection, the consumer and its loop. It swallows whatever a batch handler raises and goes on with
the next batch, its parsers lose a batch to one odd header, and ``stop`` does not call the rebalance listener; hence the
raw parser, the handler that turns every error into the end of the process, and a pump that stops before the broker.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from functools import partial
from typing import Any

from aiokafka import ConsumerRebalanceListener, TopicPartition
from aiokafka.errors import KafkaError
from faststream.kafka import KafkaBroker
from faststream.kafka.message import KafkaMessage
from faststream.middlewares import AckPolicy
from faststream.security import BaseSecurity, SASLPlaintext, SASLScram256, SASLScram512

from schemas.errors import DependencyUnavailable
from workers.runtime.careful_consumer import CarefulConsumer
from workers.runtime.connection import Connection
from workers.runtime.logs import event
from workers.runtime.offsets import KafkaMembership
from workers.runtime.pump import Pump
from workers.runtime.records import from_kafka

BATCH_RECORDS = 500
FETCH_WAIT_MS = 15
"""Both waits default to hundreds of milliseconds; a hop through Kafka took 202-259 ms with them and 25 ms without."""

MAX_POLL_INTERVAL_MS = 300_000


class Intake:
    """All subscriptions of a worker over one FastStream broker. ``subscribe`` each pump, then ``start``."""

    def __init__(
        self, kafka: Connection, *, session_timeout_s: float = 30.0, rebalance_timeout_s: float = 60.0
    ) -> None:
        self._session_ms, self._rebalance_ms = int(session_timeout_s * 1000), int(rebalance_timeout_s * 1000)
        # The pump has a producer of its own, topics are created by an operator, nothing is injected into handlers.
        self._broker = KafkaBroker(
            list(kafka.servers), security=_security(kafka), consumer_only=True, allow_auto_create_topics=False,
            apply_types=False, graceful_timeout=1.0, logger=None,
        )  # fmt: skip
        self._pumps: list[tuple[Any, Pump]] = []

    def subscribe(self, topic: str, group: str, pump: Pump) -> None:
        """Everything of ``topic`` goes to ``pump``, as a member of ``group``."""
        subscriber = self._broker.subscriber(
            topic,
            batch=True,
            group_id=group,
            max_records=BATCH_RECORDS,
            batch_timeout_ms=FETCH_WAIT_MS,
            fetch_max_wait_ms=FETCH_WAIT_MS,
            auto_offset_reset="earliest",
            isolation_level="read_committed",  # a draft of an aborted transaction was never published
            ack_policy=AckPolicy.MANUAL,
            listener=_Listener(pump),
            parser=_raw,
            decoder=_body,
            session_timeout_ms=self._session_ms,
            heartbeat_interval_ms=self._session_ms // 10,
            rebalance_timeout_ms=self._rebalance_ms,
            max_poll_interval_ms=MAX_POLL_INTERVAL_MS,
        )

        async def deliver(batch: Any) -> None:
            try:
                await pump.deliver(map(from_kafka, batch))
            except Exception as error:
                pump.fail(error)
                raise

        subscriber(deliver)
        self._pumps.append((subscriber, pump))

    async def start(self) -> None:
        """Join the groups. Kafka and the topics must have been checked before. Raises DependencyUnavailable."""
        for subscriber, pump in self._pumps:
            pump.start(KafkaMembership(partial(getattr, subscriber, "consumer")))
        for pause_s in (0.2, 0.5, 1.0, 2.0, None):
            try:
                await self._broker.connect()
                config: Any = self._broker.config.broker_config
                config.builder = partial(CarefulConsumer, **config.builder.keywords)
                await self._broker.start()
                return
            except KafkaError as error:
                # A group that is just rebalancing may refuse a newcomer; a consumer that was refused is of no use.
                await self._broker.stop()
                if pause_s is None:
                    raise DependencyUnavailable(f"cannot join the consumer group: {error}") from error
                event("join_refused", level=logging.WARNING, reason=error)
                await asyncio.sleep(pause_s)

    async def stop(self) -> None:
        """Leave the groups. Every pump must have stopped before."""
        await self._broker.stop()


class _Listener(ConsumerRebalanceListener):  # type: ignore[misc]  # aiokafka has no types
    """aiokafka logs an error of a listener and goes on; here it ends the process."""

    def __init__(self, pump: Pump) -> None:
        self._pump = pump

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        try:
            await self._pump.on_partitions_assigned(assigned)
        except Exception as error:
            self._pump.fail(error)
            raise

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        try:
            await self._pump.on_partitions_revoked(revoked)
        except Exception as error:
            self._pump.fail(error)
            raise


async def _raw(batch: tuple[Any, ...]) -> KafkaMessage:
    """A batch as it is: no header and no value is touched, so no record can cost the others."""
    return KafkaMessage(raw_message=batch, body=batch, consumer=_NO_CONSUMER)


async def _body(message: KafkaMessage) -> Any:
    return message.raw_message


class _NoConsumer:
    """FastStream's acknowledgements go nowhere: the pump commits."""

    async def commit(self) -> None: ...
    def seek(self, partition: TopicPartition, offset: int) -> None: ...


_NO_CONSUMER = _NoConsumer()


def _security(kafka: Connection) -> BaseSecurity | None:
    if kafka.sasl_mechanism is None:
        return BaseSecurity(ssl_context=kafka.tls, use_ssl=True) if kafka.tls else None
    kinds = {"PLAIN": SASLPlaintext, "SCRAM-SHA-256": SASLScram256, "SCRAM-SHA-512": SASLScram512}
    return kinds[kafka.sasl_mechanism](
        kafka.username or "", kafka.password or "", ssl_context=kafka.tls, use_ssl=kafka.tls is not None
    )
