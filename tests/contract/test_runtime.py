"""What the runtime relies on and promises, in one process, on any Kafka: order, restarts, bytes, reading by place."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest
from aiokafka import AIOKafkaProducer

from tests.contract.conftest import Cluster
from workers.runtime.intake import Intake
from workers.runtime.producing import ConfirmedProducer, OutputTooLarge
from workers.runtime.pump import Pump
from workers.runtime.pump_state import PumpOptions
from workers.runtime.reading import Gone, follow, read_at, read_to_end
from workers.runtime.records import InRecord, OutRecord
from workers.runtime.slots import Process
from workers.runtime.topic_admin import topic_admin
from workers.runtime.topic_plan import Create

pytestmark = pytest.mark.anyio

Unique = Callable[[str], str]


class Flow:
    """A topic in, a topic out, a group: what a worker works between."""

    def __init__(self, cluster: Cluster, unique: Unique) -> None:
        self.kafka, self._create = cluster
        self.source, self.target, self.group = unique("in"), unique("out"), unique("group")

    async def open(self) -> Flow:
        await self._create(self.source, 4)
        await self._create(self.target, 4)
        return self

    async def publish(self, values: range, *, keys: int = 20) -> None:
        async with self.producer() as producer:
            await producer.produce(
                [OutRecord(self.source, b"key-%d" % (value % keys), b"%d" % value) for value in values]
            )

    @asynccontextmanager
    async def producer(self, *, limit: int = 100_000) -> AsyncIterator[ConfirmedProducer]:
        producer = ConfirmedProducer(self.kafka, max_message_bytes=limit)
        await producer.start()
        try:
            yield producer
        finally:
            await producer.stop()

    @asynccontextmanager
    async def member(self, process: Process, *, drain_timeout_s: float = 1.0) -> AsyncIterator[Pump]:
        """One worker of the group, as a process would have it."""
        async with self.producer() as producer:
            options = PumpOptions(drain_timeout_s=drain_timeout_s)
            pump = Pump(process, producer, oversize=lambda *_: [], options=options)
            intake = Intake(self.kafka, session_timeout_s=3, rebalance_timeout_s=10)
            intake.subscribe(self.source, self.group, pump)
            await intake.start()
            try:
                yield pump
            finally:
                await pump.stop()
                await intake.stop()

    def copying(self, ran: list[bytes | None], *, takes_s: float = 0.0) -> Process:
        async def process(record: InRecord) -> Sequence[OutRecord]:
            await asyncio.sleep(takes_s)
            ran.append(record.value)
            return [OutRecord(self.target, record.key, record.value)]

        return process

    async def written(self) -> list[InRecord]:
        return [record async for record in read_to_end(self.kafka, [self.target])]


@pytest.fixture
async def flow(cluster: Cluster, unique: Unique) -> Flow:
    return await Flow(cluster, unique).open()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - what is waited for is the worker's inside
            await asyncio.sleep(0.01)


def numbers(records: Sequence[InRecord]) -> list[int]:
    return [int(record.value or b"-1") for record in records]


async def test_every_record_is_answered_once_and_each_key_in_order(flow: Flow) -> None:
    await flow.publish(range(1000))
    ran: list[bytes | None] = []
    async with flow.member(flow.copying(ran)) as pump:
        await until(lambda: len(ran) == 1000)
        await asyncio.wait_for(pump.idle(), 10)
    written = await flow.written()
    assert sorted(numbers(written)) == list(range(1000))
    by_key = defaultdict(list)
    for record in written:
        by_key[record.key].append(int(record.value or b""))
    assert all(values == sorted(values) for values in by_key.values())


async def test_what_was_finished_beyond_a_slow_record_is_not_run_again_after_a_restart(flow: Flow) -> None:
    await flow.publish(range(40), keys=40)
    stuck, first, second = asyncio.Event(), list[bytes | None](), list[bytes | None]()
    copy = flow.copying(first)

    async def process(record: InRecord) -> Sequence[OutRecord]:
        if record.value == b"3":
            await stuck.wait()
        return await copy(record)

    async with flow.member(process, drain_timeout_s=0.05):
        await until(lambda: len(first) == 39)
    async with flow.member(flow.copying(second)) as pump:
        await until(lambda: len(second) == 1)
        await asyncio.wait_for(pump.idle(), 10)
    assert second == [b"3"]


async def test_bytes_come_back_as_they_went(flow: Flow) -> None:
    odd = [
        OutRecord(flow.target, b"k", None, (("null", None), ("a", b"1"), ("a", b"\xff"))),
        OutRecord(flow.target, None, b"v"),
        OutRecord(flow.target, b"", b""),
        OutRecord(flow.target, b"\xff\x00", b"\xfe" * 1000, (("ümlaut", b""),)),
    ]
    async with flow.producer() as producer:
        await producer.produce(odd)
    read = [OutRecord(record.topic, record.key, record.value, record.headers) for record in await flow.written()]
    assert sorted(read, key=repr) == sorted(odd, key=repr)


async def test_an_output_above_the_limit_is_refused_before_anything_is_sent(flow: Flow) -> None:
    async with flow.producer(limit=1000) as producer:
        with pytest.raises(OutputTooLarge):
            await producer.produce([OutRecord(flow.target, b"k", b"v"), OutRecord(flow.target, b"k", b"x" * 2000)])
    assert await flow.written() == []


async def test_one_record_is_read_by_its_place_and_a_place_without_one_says_so(flow: Flow) -> None:
    await flow.publish(range(10))
    stream = follow(flow.kafka, [flow.source], from_beginning=True)
    first = await anext(stream)
    await stream.aclose()
    assert await read_at(flow.kafka, flow.source, first.partition, first.offset) == first
    assert isinstance(await read_at(flow.kafka, flow.source, first.partition, 10_000), Gone)


@pytest.mark.real
async def test_drafts_of_an_aborted_transaction_are_never_handled(real_cluster: Cluster, unique: Unique) -> None:
    flow = await Flow(real_cluster, unique).open()
    producer = AIOKafkaProducer(**flow.kafka.options(), transactional_id=unique("tx"))
    await producer.start()
    await producer.begin_transaction()
    await producer.send_and_wait(flow.source, b"aborted", partition=0)
    await producer.abort_transaction()
    async with producer.transaction():
        await producer.send_and_wait(flow.source, b"kept", partition=0)
    await producer.stop()
    ran: list[bytes | None] = []
    async with flow.member(flow.copying(ran)) as pump:
        await until(lambda: bool(ran))
        await asyncio.wait_for(pump.idle(), 10)
    assert ran == [b"kept"]


@pytest.mark.real
async def test_a_compacted_topic_keeps_the_newest_of_each_key_and_what_is_gone_says_so(
    real_cluster: Cluster, unique: Unique
) -> None:
    name = unique("compacted")
    quick = {
        "cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0.01",
        "max.compaction.lag.ms": "100",
    }  # fmt: skip
    async with topic_admin(real_cluster.kafka) as admin:
        await admin.apply([Create(name, 1, 1, quick)])
    producer = ConfirmedProducer(real_cluster.kafka, max_message_bytes=1000)
    await producer.start()
    async with asyncio.timeout(60):
        while (
            not isinstance(gone := await read_at(real_cluster.kafka, name, 0, 0), Gone) or "compaction" not in gone.why
        ):
            await producer.produce([OutRecord(name, b"k", b"v")])
            await asyncio.sleep(0.5)
    await producer.stop()
    records = [record async for record in read_to_end(real_cluster.kafka, [name])]
    assert records[-1].value == b"v"
    assert records[0].offset > 0
