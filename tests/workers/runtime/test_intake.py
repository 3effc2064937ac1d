"""Reading through FastStream from a real protocol: odd records, restored metadata, rebalances, failing handlers."""

from __future__ import annotations

import asyncio

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from faststream.security import SASLPlaintext, SASLScram512

from workers.runtime.connection import Connection
from workers.runtime.intake import Intake, _security
from workers.runtime.offsets import CommitRefused, Committed, KafkaMembership
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.pump import Pump
from workers.runtime.pump_state import PumpOptions
from workers.runtime.records import OutRecord

pytestmark = pytest.mark.anyio


class Worker:
    """One member of a group, as a process would have it."""

    def __init__(self, kafka, topic, group, handler, *, session_s=2, **options):
        self.connection = Connection((kafka,))
        self.producer = ConfirmedProducer(self.connection, max_message_bytes=100_000)
        self.pump = Pump(
            handler, self.producer, oversize=lambda *_: [], options=PumpOptions(**{"drain_timeout_s": 2.0} | options)
        )
        self.intake = Intake(self.connection, session_timeout_s=session_s, rebalance_timeout_s=10)
        self.intake.subscribe(topic, group, self.pump)

    async def __aenter__(self):
        await self.producer.start()
        await self.intake.start()
        return self

    async def __aexit__(self, *_):
        await self.pump.stop()
        await self.intake.stop()
        await self.producer.stop()


async def publish(kafka, topic, *records):
    async with AIOKafkaProducer(bootstrap_servers=kafka) as producer:
        for key, value, headers in records:
            await producer.send_and_wait(topic, value, key=key, headers=headers)


async def until(condition, timeout_s=15.0):
    async with asyncio.timeout(timeout_s):
        while not condition():  # noqa: ASYNC110 - what is waited for is the worker's inside
            await asyncio.sleep(0.01)


@pytest.fixture
def topics(services, unique):
    names = unique("drafts"), unique("verdicts")
    for name in names:
        services.create_topic(name, 2)
    return names


async def test_odd_records_arrive_as_they_are_and_cost_nobody_else_anything(services, unique, topics):
    odd = [
        (b"k", b"plain", []),
        (b"k", b"bad header", [("trace", b"\xff\xfe")]),
        (b"k", b"null header", [("trace", None)]),
        (b"k", b"twice", [("a", b"1"), ("a", b"2")]),
        (b"k", None, []),
        (b"k", b"", []),
        (None, b"no key", []),
        (b"", b"empty key", []),
        (b"\xff", b"\xff\xfe{not json", []),
    ]
    await publish(services.kafka, topics[0], *odd)
    seen = []

    async def handler(record):
        seen.append((record.key, record.value, list(record.headers)))
        return []

    async with Worker(services.kafka, topics[0], unique("g"), handler) as worker:
        await until(lambda: len(seen) == len(odd))
        await asyncio.wait_for(worker.pump.idle(), 10)
        assert worker.pump.error is None
    assert sorted(seen, key=str) == sorted(odd, key=str)


async def test_the_next_start_runs_what_was_not_finished_and_nothing_else(services, unique, topics):
    """Through the broker: offset and metadata are committed, fetched from the coordinator, and believed."""
    group = unique("g")
    await publish(services.kafka, topics[0], *((b"k%d" % n, b"%d" % n, []) for n in range(40)))
    stuck = asyncio.Event()
    first_run, second_run = [], []

    async def first(record):
        if record.value in (b"3", b"17"):
            await stuck.wait()
        first_run.append(record.value)
        return [OutRecord(topics[1], record.key, record.value)]

    async def second(record):
        second_run.append(record.value)
        return []

    async with Worker(services.kafka, topics[0], group, first, drain_timeout_s=0.05):
        await until(lambda: len(first_run) == 38)
    async with Worker(services.kafka, topics[0], group, second) as worker:
        await until(lambda: len(second_run) == 2)
        await asyncio.wait_for(worker.pump.idle(), 10)
    assert sorted(second_run) == [b"17", b"3"]


async def test_an_error_in_the_handler_ends_the_worker_and_is_not_committed_past(services, unique, topics):
    group = unique("g")
    await publish(services.kafka, topics[0], *((b"k", b"%d" % n, []) for n in range(10)))

    async def handler(record):
        if record.value == b"5":
            raise LookupError("a bug")
        return []

    async with Worker(services.kafka, topics[0], group, handler) as worker:
        await asyncio.wait_for(worker.pump.failed.wait(), 10)
        assert isinstance(worker.pump.error, LookupError)
    seen = []

    async def mended(record):
        seen.append(record.value)
        return []

    async with Worker(services.kafka, topics[0], group, mended) as worker:
        await until(lambda: len(seen) == 5)
    assert seen == [b"5", b"6", b"7", b"8", b"9"]


async def test_a_log_that_retention_cut_is_read_from_where_it_starts(services, unique, topics):
    group, seen = unique("g"), []

    async def handler(record):
        seen.append(record.offset)
        return []

    topic = unique("cut")
    services.create_topic(topic, 1)
    await publish(services.kafka, topic, *((b"k", b"%d" % n, []) for n in range(5)))
    async with Worker(services.kafka, topic, group, handler) as worker:
        await until(lambda: len(seen) == 5)
        await asyncio.wait_for(worker.pump.idle(), 10)
    await publish(services.kafka, topic, *((b"k", b"%d" % n, []) for n in range(5)))
    services.delete_records(topic, 0, 8)
    async with Worker(services.kafka, topic, group, handler) as worker:
        await until(lambda: len(seen) == 7)
        assert worker.pump.error is None
    assert seen[5:] == [8, 9]


async def test_offset_and_metadata_come_back_from_the_coordinator(services, unique, topics):
    """Reaches into aiokafka: this is the test that tells when a new version has moved it."""
    partition = TopicPartition(topics[0], 0)
    consumer = AIOKafkaConsumer(
        topics[0],
        bootstrap_servers=services.kafka,
        group_id=unique("g"),
        enable_auto_commit=False,
        session_timeout_ms=2000,
        heartbeat_interval_ms=200,
    )
    async with consumer:
        member = KafkaMembership(lambda: consumer)
        await until(lambda: partition in member.assigned())
        assert await member.committed([partition]) == {}
        await member.commit({partition: Committed(7, "b:abc")}, timeout_s=5)
        assert await member.committed([partition]) == {partition: Committed(7, "b:abc")}
        member.pause([partition])
        assert set(member.paused()) == {partition}
        member.resume([partition])
        assert not member.paused()
        services.push_errors("OffsetCommit", [25])  # UNKNOWN_MEMBER_ID
        with pytest.raises(CommitRefused, match="already rebalanced"):
            await member.commit({partition: Committed(8, "")}, timeout_s=5)
    gone = KafkaMembership(lambda: None)
    assert (gone.assigned(), gone.paused(), gone.end_of(partition)) == ((), (), None)
    with pytest.raises(CommitRefused, match="not running"):
        await gone.commit({partition: Committed(8, "")}, timeout_s=5)


def test_credentials_reach_faststream():
    plain = _security(Connection(("k:1",), None, "PLAIN", "user", "word"))
    assert isinstance(plain, SASLPlaintext)
    assert (plain.username, plain.password, plain.use_ssl) == ("user", "word", False)
    assert isinstance(_security(Connection(("k:1",), None, "SCRAM-SHA-512", "user", "word")), SASLScram512)
    assert _security(Connection(("k:1",))) is None
