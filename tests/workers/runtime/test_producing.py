"""Produce returns only when Kafka has it; too large is an outcome of its own; what does not pass is fatal."""

from __future__ import annotations

import asyncio
import os

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaTimeoutError
from aiokafka.record.default_records import DefaultRecordBatchBuilder

from schemas.errors import DependencyUnavailable, FatalError
from workers.runtime.connection import Connection, check
from workers.runtime.producing import ConfirmedProducer, OutputTooLarge
from workers.runtime.records import OutRecord, from_kafka

LIMIT = 10_000


async def read(kafka, topic, count):
    async with AIOKafkaConsumer(
        topic, bootstrap_servers=kafka, auto_offset_reset="earliest", fetch_max_wait_ms=10
    ) as consumer:
        return [from_kafka(await asyncio.wait_for(consumer.getone(), 10)) for _ in range(count)]


@pytest.fixture
async def producer(services):
    producer = ConfirmedProducer(
        Connection((services.kafka,)), max_message_bytes=LIMIT, limits={"wide": 30_000}, pauses_s=(0.01, 0.01)
    )
    await producer.start()
    yield producer
    await producer.stop()


@pytest.mark.anyio
async def test_bytes_arrive_as_they_are_and_in_order(services, unique, producer):
    topic = unique("out")
    services.create_topic(topic, 1)
    outs = [
        OutRecord(topic, b"k", b"1", (("a", b"\xff\xfe"), ("a", b"again"), ("null", None))),
        OutRecord(topic, None, b"", ()),
        OutRecord(topic, b"k", None, ()),
    ]
    await producer.produce(outs)
    arrived = await read(services.kafka, topic, 3)
    assert [(r.key, r.value, r.headers) for r in arrived] == [(o.key, o.value, o.headers) for o in outs]
    assert producer.silent_for_s() == 0


@pytest.mark.anyio
async def test_an_output_above_the_limit_is_its_own_outcome_and_nothing_of_its_group_is_sent(
    services, unique, producer
):
    topic = unique("large")
    services.create_topic(topic, 1)
    with pytest.raises(OutputTooLarge, match="at most 10000"):
        await producer.produce([OutRecord(topic, b"k", b"small"), OutRecord(topic, b"k", b"x" * LIMIT)])
    await producer.produce([OutRecord(topic, b"k", b"next")])
    assert [r.value for r in await read(services.kafka, topic, 1)] == [b"next"]


@pytest.mark.anyio
async def test_a_topic_may_have_a_limit_of_its_own(services, producer):
    services.create_topic("wide", 1)
    await producer.produce([OutRecord("wide", b"k", b"x" * 25_000)])
    with pytest.raises(OutputTooLarge, match="at most 30000"):
        await producer.produce([OutRecord("wide", b"k", b"x" * 30_000)])


def test_the_size_of_a_record_is_never_understated():
    """What passes here makes a batch that a broker with the same limit accepts."""
    out = OutRecord("t", os.urandom(3000), os.urandom(3000), tuple((f"h{n}", os.urandom(50)) for n in range(40)))
    assert DefaultRecordBatchBuilder.estimate_size_in_bytes(out.key, out.value, list(out.headers)) <= out.size


@pytest.mark.anyio
async def test_transient_errors_are_repeated_and_leave_no_duplicates(services, unique, producer):
    topic = unique("blip")
    services.create_topic(topic, 1)
    services.push_errors("Produce", [7, 19])  # REQUEST_TIMED_OUT, NOT_ENOUGH_REPLICAS
    await producer.produce([OutRecord(topic, b"k", b"once")])
    await producer.produce([OutRecord(topic, b"k", b"then")])
    assert [r.value for r in await read(services.kafka, topic, 2)] == [b"once", b"then"]


@pytest.mark.anyio
@pytest.mark.parametrize("refusing", ["partitions_for", "send_batch"])
async def test_what_comes_after_a_record_that_was_not_taken_does_not_overtake_it(
    services, unique, producer, monkeypatch, refusing
):
    topic = unique("order")
    services.create_topic(topic, 1)
    send, refusals = getattr(producer._producer, refusing), [KafkaTimeoutError()]

    async def refusing_once(*arguments, **options):
        if refusals:
            raise refusals.pop()
        return await send(*arguments, **options)

    monkeypatch.setattr(producer._producer, refusing, refusing_once)
    await producer.produce([OutRecord(topic, b"k", b"%d" % n) for n in range(3)])
    assert [r.value for r in await read(services.kafka, topic, 3)] == [b"0", b"1", b"2"]


@pytest.mark.anyio
async def test_a_broker_that_refuses_the_size_is_fatal_with_the_setting_named(services, unique, producer):
    topic = unique("strict")
    services.create_topic(topic, 1)
    services.push_errors("Produce", [10])  # MESSAGE_TOO_LARGE
    with pytest.raises(FatalError, match=r"lower ASSAY_MAX_MESSAGE_BYTES or raise the topic's max\.message\.bytes"):
        await producer.produce([OutRecord(topic, b"k", b"x")])


@pytest.mark.anyio
async def test_silence_is_measured_while_something_waits(own_services):
    own_services.create_topic("t", 1)
    producer = ConfirmedProducer(Connection((own_services.kafka,)), max_message_bytes=LIMIT)
    await producer.start()
    await producer.produce([OutRecord("t", b"k", b"1")])
    own_services.round_trip(1, 400)
    waiting = asyncio.create_task(producer.produce([OutRecord("t", b"k", b"2")]))
    await asyncio.sleep(0.15)
    assert 0.1 < producer.silent_for_s() < 0.4
    await waiting
    assert producer.silent_for_s() == 0
    await producer.stop()


@pytest.mark.anyio
async def test_no_kafka_and_no_topic_give_one_line_each(services, unique):
    nobody = Connection(("127.0.0.1:9",))
    with pytest.raises(DependencyUnavailable, match=r"no Kafka at 127\.0\.0\.1:9"):
        await check(nobody, [])
    with pytest.raises(DependencyUnavailable, match="no producer"):
        await ConfirmedProducer(nobody, max_message_bytes=LIMIT).start()
    topic = unique("there")
    services.create_topic(topic, 1)
    kafka = Connection((services.kafka,))
    await check(kafka, [topic])
    with pytest.raises(DependencyUnavailable, match="topic elsewhere, nowhere does not exist; `assay topics create`"):
        await check(kafka, ["nowhere", topic, "elsewhere"])


@pytest.mark.anyio
async def test_stopping_does_not_wait_for_a_broker_that_is_gone(own_services):
    own_services.create_topic("gone", 1)
    producer = ConfirmedProducer(Connection((own_services.kafka,)), max_message_bytes=LIMIT, stop_timeout_s=0.2)
    before = asyncio.all_tasks()
    await producer.start()
    await producer.produce([OutRecord("gone", b"k", b"1")])
    own_services.broker_down()
    waiting = asyncio.create_task(producer.produce([OutRecord("gone", b"k", b"2")]))
    await asyncio.sleep(0.05)
    async with asyncio.timeout(5):
        await producer.stop()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert asyncio.all_tasks() == before
