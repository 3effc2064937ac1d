"""A record that aiokafka cannot read costs itself and the rest of its producer's batch, and nobody else anything."""

from __future__ import annotations

import asyncio
import struct

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.record.util import calc_crc32c

from tests.workers.runtime.test_intake import Worker, until

pytestmark = pytest.mark.anyio


async def publish(kafka, topic, partition, *values, spoil=None):
    """One batch; in record ``spoil`` the header's name is made invalid UTF-8, as a C client may send it."""
    async with AIOKafkaProducer(bootstrap_servers=kafka) as producer:
        batch = producer.create_batch()
        for number, value in enumerate(values):
            name = "SPOILT" if number == spoil else "header"
            batch.append(key=b"k", value=value, timestamp=None, headers=[(name, b"v")])
        built = batch._build

        def spoilt() -> bytes:
            raw = bytearray(built().replace(b"SPOILT", b"\xff\xfe\xff\xfe\xff\xfe"))
            raw[17:21] = struct.pack(">I", calc_crc32c(bytes(raw[21:])))  # the checksum of a v2 batch
            batch._buffer = bytes(raw)
            return batch._buffer

        batch._build = spoilt
        await (await producer.send_batch(batch, topic, partition=partition))


@pytest.mark.parametrize("spoil", [0, 2, 4])
async def test_a_header_name_that_is_not_utf8_costs_the_rest_of_its_batch_and_no_other_record(services, unique, spoil):
    topic = unique("spoilt")
    services.create_topic(topic, 3)
    await publish(services.kafka, topic, 0, *(b"a%d" % n for n in range(5)))
    await publish(services.kafka, topic, 1, *(b"b%d" % n for n in range(5)), spoil=spoil)
    await publish(services.kafka, topic, 1, b"b5")
    await publish(services.kafka, topic, 2, *(b"c%d" % n for n in range(5)))
    seen = []

    async def handler(record):
        seen.append(record)
        return []

    async with Worker(services.kafka, topic, unique("g"), handler) as worker:
        await until(lambda: len(seen) == 16)
        await asyncio.wait_for(worker.pump.idle(), 10)
        assert worker.pump.error is None
    expected = {b"%c%d" % (letter, n) for letter in b"abc" for n in range(5)} | {b"b5"}
    assert {record.value for record in seen if record.value} == expected - {b"b%d" % n for n in range(spoil, 5)}
    stand_ins = [record for record in seen if record.value is None]
    assert sorted((one.partition, one.offset) for one in stand_ins) == [(1, n) for n in range(spoil, 5)]
    assert all(one.headers[0][0] == "assay-unreadable" for one in stand_ins)


async def test_a_broken_checksum_stops_the_worker_before_anything_is_passed_over(services, unique, monkeypatch):
    topic, group = unique("corrupt"), unique("g")
    services.create_topic(topic, 2)
    await publish(services.kafka, topic, 0, b"a")
    await publish(services.kafka, topic, 1, b"b")
    seen = []

    async def handler(record):
        seen.append(record.value)
        return []

    with monkeypatch.context() as broken:
        broken.setattr("tests.workers.runtime.test_careful_consumer.calc_crc32c", lambda raw: 7)
        await publish(services.kafka, topic, 1, b"c")
    async with Worker(services.kafka, topic, group, handler) as worker:
        await asyncio.wait_for(worker.pump.failed.wait(), 10)
        assert "cannot be read" in str(worker.pump.error)
    assert b"c" not in seen
