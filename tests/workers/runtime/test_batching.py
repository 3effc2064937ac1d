"""One batch a partition and tick; a partition's batches keep their order; a full partition holds its producer up."""

from __future__ import annotations

import asyncio

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import RecordListTooLargeError

from workers.runtime.batching import Batcher
from workers.runtime.records import OutRecord

BATCH_BYTES = 2_000


@pytest.fixture
async def producer(services):
    async with AIOKafkaProducer(
        bootstrap_servers=services.kafka, enable_idempotence=True, acks="all", max_batch_size=BATCH_BYTES
    ) as made:
        yield made


@pytest.fixture
async def sent(producer, monkeypatch):
    """How many records each batch had, as they were handed to Kafka."""
    batches, send_batch = [], producer.send_batch

    async def noting(batch, topic, *, partition):
        batches.append(batch.record_count())
        return await send_batch(batch, topic, partition=partition)

    monkeypatch.setattr(producer, "send_batch", noting)
    return batches


async def read(kafka, topic, count):
    async with AIOKafkaConsumer(
        topic, bootstrap_servers=kafka, auto_offset_reset="earliest", fetch_max_wait_ms=10
    ) as consumer:
        return [await asyncio.wait_for(consumer.getone(), 10) for _ in range(count)]


class Settlements:
    def __init__(self, count):
        self.seen, self.errors = [], []
        self._count, self.all = count, asyncio.Event()

    def __call__(self, number, error):
        self.seen.append(number)
        if error is not None:
            self.errors.append(error)
        if len(self.seen) == self._count:
            self.all.set()


@pytest.mark.anyio
async def test_what_is_added_in_one_tick_is_one_batch(services, unique, producer, sent):
    topic = unique("tick")
    services.create_topic(topic, 1)
    batcher, settled = Batcher(producer), Settlements(20)
    for number in range(20):
        await batcher.add(number, OutRecord(topic, b"k", b"x"), settled)
    await settled.all.wait()
    assert sent == [20]
    assert settled.errors == []


@pytest.mark.anyio
async def test_batches_of_a_partition_keep_their_order_and_a_full_one_makes_its_producer_wait(
    services, unique, producer, sent
):
    topic = unique("order")
    services.create_topic(topic, 1)
    batcher, settled = Batcher(producer), Settlements(100)
    for number in range(100):
        await batcher.add(number, OutRecord(topic, b"k", b"%03d" % number + b"x" * 300), settled)
        waiting = sum(len(batch.settled) for line in batcher._lines.values() for batch in line.batches)
        assert waiting <= 2 * BATCH_BYTES // 300
    await settled.all.wait()
    assert settled.seen == list(range(100))
    assert sum(sent) == 100
    assert max(sent) <= BATCH_BYTES // 300
    assert [int(record.value[:3]) for record in await read(services.kafka, topic, 100)] == list(range(100))


@pytest.mark.anyio
async def test_lingering_gathers_more_than_a_tick(services, unique, producer, sent):
    topic = unique("linger")
    services.create_topic(topic, 1)
    batcher, settled = Batcher(producer, linger_s=0.03), Settlements(2)
    await batcher.add(0, OutRecord(topic, b"k", b"x"), settled)
    await asyncio.sleep(0.005)
    await batcher.add(1, OutRecord(topic, b"k", b"x"), settled)
    await settled.all.wait()
    assert sent == [2]


@pytest.mark.anyio
async def test_a_key_goes_where_any_other_producer_puts_it(services, unique, producer):
    topic = unique("keys")
    services.create_topic(topic, 7)
    keys = [b"", b"a", b"sku-1", "größe".encode(), b"x" * 41]
    batcher, settled = Batcher(producer), Settlements(len(keys))
    for number, key in enumerate(keys):
        await batcher.add(number, OutRecord(topic, key, b"batched"), settled)
        await producer.send_and_wait(topic, b"sent", key=key)
    await settled.all.wait()
    places = {}
    for record in await read(services.kafka, topic, 2 * len(keys)):
        places.setdefault(record.key, set()).add(record.partition)
    assert {key: len(where) for key, where in places.items()} == dict.fromkeys(keys, 1)


@pytest.mark.anyio
async def test_records_without_a_key_go_anywhere(services, unique, producer):
    topic = unique("keyless")
    services.create_topic(topic, 3)
    batcher, settled = Batcher(producer), Settlements(40)
    for number in range(40):
        await batcher.add(number, OutRecord(topic, None, b"x"), settled)
    await settled.all.wait()
    assert {record.partition for record in await read(services.kafka, topic, 40)} == {0, 1, 2}


@pytest.mark.anyio
async def test_every_record_of_a_batch_that_is_refused_hears_why_and_the_next_batch_goes_on(services, unique, producer):
    topic = unique("refused")
    services.create_topic(topic, 1)
    services.push_errors("Produce", [18])  # RECORD_LIST_TOO_LARGE
    batcher, settled, later = Batcher(producer), Settlements(3), Settlements(1)
    for number in range(3):
        await batcher.add(number, OutRecord(topic, b"k", b"x"), settled)
    await settled.all.wait()
    assert [type(error) for error in settled.errors] == [RecordListTooLargeError] * 3
    await batcher.add(0, OutRecord(topic, b"k", b"y"), later)
    await later.all.wait()
    assert later.errors == []
