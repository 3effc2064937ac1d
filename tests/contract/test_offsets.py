"""What only a real broker answers of offsets: how much metadata it takes, and the gaps that transactions leave."""

from __future__ import annotations

import asyncio

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from tests.workers.runtime.test_intake import Worker
from workers.runtime.finished import METADATA_CAP
from workers.runtime.offsets import CommitRefused, Committed, KafkaMembership

pytestmark = [pytest.mark.anyio, pytest.mark.real]


@pytest.fixture
async def topic(real_kafka, unique):
    name = unique("offsets")
    admin = AIOKafkaAdminClient(bootstrap_servers=real_kafka)
    await admin.start()
    await admin.create_topics([NewTopic(name, 1, 1)])
    await admin.close()
    return name


async def until(condition):
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - what is waited for is inside aiokafka
            await asyncio.sleep(0.02)


async def test_kafka_takes_as_much_metadata_as_the_cap_says_and_no_more(real_kafka, unique, topic):
    partition = TopicPartition(topic, 0)
    async with AIOKafkaConsumer(
        topic, bootstrap_servers=real_kafka, group_id=unique("g"), enable_auto_commit=False
    ) as consumer:
        member = KafkaMembership(lambda: consumer)
        await until(lambda: partition in member.assigned())
        full = Committed(1, "b:" + "A" * (METADATA_CAP - 2))
        await member.commit({partition: full}, timeout_s=5)
        assert await member.committed([partition]) == {partition: full}
        with pytest.raises(CommitRefused):
            await member.commit({partition: Committed(2, full.metadata + "A")}, timeout_s=5)


async def test_aborted_drafts_are_not_judged_and_the_markers_of_transactions_hold_nothing_up(real_kafka, unique, topic):
    async with AIOKafkaProducer(bootstrap_servers=real_kafka, transactional_id=unique("tx")) as producer:
        for kept in (True, False, True):
            await producer.begin_transaction()
            for number in range(3):
                await producer.send(topic, b"%d" % number, key=b"kept" if kept else b"aborted")
            await (producer.commit_transaction() if kept else producer.abort_transaction())
    seen = []

    async def handler(record):
        seen.append((record.key, record.offset))
        return []

    async with Worker(real_kafka, topic, unique("g"), handler, session_s=6) as worker:
        await until(lambda: len(seen) == 6)
        await asyncio.wait_for(worker.pump.idle(), 10)
        (held,) = worker.pump._partitions.values()
        # Offsets 0-2, a marker, 4-6 (aborted), a marker, 8-10, a marker.
        assert held.tracker.position == 11
    assert seen == [(b"kept", offset) for offset in (0, 1, 2, 8, 9, 10)]
