"""Reading without a group: whole topics, what comes from now on, and one record by its coordinates."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic, RecordsToDelete
from aiokafka.structs import TopicPartition

from schemas.errors import DependencyUnavailable
from workers.embedded.services import ChildServices
from workers.runtime.connection import Connection
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.reading import Gone, follow, read_at, read_to_end
from workers.runtime.records import InRecord, OutRecord

pytestmark = pytest.mark.anyio

Unique = Callable[[str], str]


@pytest.fixture
def kafka(services: ChildServices) -> Connection:
    return Connection((services.kafka,))


@pytest.fixture
def topic(services: ChildServices, unique: Unique) -> str:
    name = unique("reading")
    services.create_topic(name, 3)
    return name


@pytest.fixture
async def producer(kafka: Connection) -> AsyncIterator[ConfirmedProducer]:
    producer = ConfirmedProducer(kafka, max_message_bytes=1_000_000)
    await producer.start()
    yield producer
    await producer.stop()


def records(topic: str, values: range) -> list[OutRecord]:
    return [OutRecord(topic, f"key-{i % 7}".encode(), str(i).encode(), (("n", b"\xff"),)) for i in values]


async def test_everything_up_to_the_end_comes_once_and_in_the_order_of_each_key(
    kafka: Connection, topic: str, producer: ConfirmedProducer
) -> None:
    await producer.produce(records(topic, range(1000)))
    read = [record async for record in read_to_end(kafka, [topic])]

    assert sorted(int(record.value or b"") for record in read) == list(range(1000))
    by_key: dict[bytes | None, list[int]] = {}
    for record in read:
        by_key.setdefault(record.key, []).append(int(record.value or b""))
    assert all(values == sorted(values) for values in by_key.values())
    assert read[0].headers == (("n", b"\xff"),)


async def test_what_is_written_after_the_start_is_not_part_of_reading_to_the_end(
    kafka: Connection, topic: str, producer: ConfirmedProducer
) -> None:
    await producer.produce(records(topic, range(10)))
    read = 0
    async for _ in read_to_end(kafka, [topic]):
        read += 1
        if read == 1:
            await producer.produce(records(topic, range(10, 20)))
    assert read == 10


async def test_empty_topics_end_at_once(kafka: Connection, topic: str) -> None:
    assert [record async for record in read_to_end(kafka, [topic])] == []


@pytest.mark.parametrize("from_beginning", [False, True])
async def test_following_begins_at_the_end_or_at_the_beginning(
    kafka: Connection, topic: str, producer: ConfirmedProducer, from_beginning: bool
) -> None:
    await producer.produce(records(topic, range(3)))
    stream = follow(kafka, [topic], from_beginning=from_beginning)
    first = asyncio.ensure_future(anext(stream))
    if not from_beginning:
        await asyncio.sleep(0.3)
        await producer.produce(records(topic, range(3, 4)))
    seen = await asyncio.wait_for(first, 10)
    await stream.aclose()
    assert (int(seen.value or b"") == 3) is not from_beginning


async def test_a_record_is_read_by_its_coordinates(kafka: Connection, topic: str, producer: ConfirmedProducer) -> None:
    await producer.produce(records(topic, range(20)))
    for wanted in [record async for record in read_to_end(kafka, [topic])][::5]:
        assert await read_at(kafka, topic, wanted.partition, wanted.offset) == wanted


async def test_a_record_that_is_gone_is_said_plainly(
    kafka: Connection, topic: str, producer: ConfirmedProducer, services: ChildServices
) -> None:
    await producer.produce([OutRecord(topic, b"k", str(i).encode()) for i in range(4)])
    partition = (await anext(read_to_end(kafka, [topic]))).partition
    services.delete_records(topic, partition, 2)

    async def why(partition: int, offset: int) -> str:
        found = await read_at(kafka, topic, partition, offset)
        assert isinstance(found, Gone)
        return str(found)

    assert "retention has removed it; the partition begins at offset 2" in await why(partition, 1)
    assert "nothing has been written there; the partition ends before offset 4" in await why(partition, 4)
    assert "no such partition" in await why(99, 0)
    assert isinstance(await read_at(kafka, topic, partition, 2), InRecord)


async def test_a_missing_topic_is_one_clear_line(kafka: Connection) -> None:
    with pytest.raises(DependencyUnavailable, match="topic nope does not exist; `assay topics create` makes it"):
        await read_at(kafka, "nope", 0, 0)


async def test_no_kafka_is_one_clear_line() -> None:
    with pytest.raises(DependencyUnavailable, match=r"no Kafka at 127.0.0.1:1:"):
        await read_at(Connection(("127.0.0.1:1",)), "drafts", 0, 0)


async def test_a_broker_that_falls_silent_ends_the_reading(own_services: ChildServices) -> None:
    own_services.create_topic("t", 1)
    kafka = Connection((own_services.kafka,))
    producer = ConfirmedProducer(kafka, max_message_bytes=1000)
    await producer.start()
    await producer.produce([OutRecord("t", b"k", b"v")])
    await producer.stop()
    own_services.push_errors("Fetch", [6] * 500)
    with pytest.raises(DependencyUnavailable, match=r"Kafka has sent nothing of t for 0.3 s"):
        _ = [record async for record in read_to_end(kafka, ["t"], timeout_s=0.3)]


@pytest.mark.real
async def test_reading_ends_behind_a_transaction_that_was_aborted_and_one_that_was_kept(
    real_kafka: str, unique: Unique
) -> None:
    kafka, topic = Connection((real_kafka,)), unique("transactions")
    await _create(kafka, NewTopic(topic, 1, 1))
    producer = AIOKafkaProducer(**kafka.options(), transactional_id=unique("tx"))
    await producer.start()
    async with producer.transaction():
        await producer.send_and_wait(topic, b"kept")
    await producer.begin_transaction()
    await producer.send_and_wait(topic, b"aborted")
    await producer.abort_transaction()
    await producer.stop()
    assert [record.value async for record in read_to_end(kafka, [topic], timeout_s=5)] == [b"kept"]


@pytest.mark.real
async def test_a_real_broker_says_the_same_of_deleted_records(real_kafka: str, unique: Unique) -> None:
    kafka, topic = Connection((real_kafka,)), unique("deleted")
    await _create(kafka, NewTopic(topic, 1, 1))
    producer = ConfirmedProducer(kafka, max_message_bytes=1000)
    await producer.start()
    await producer.produce([OutRecord(topic, b"k", str(i).encode()) for i in range(4)])
    await producer.stop()
    admin = AIOKafkaAdminClient(**kafka.options())
    await admin.start()
    await admin.delete_records({TopicPartition(topic, 0): RecordsToDelete(2)})
    await admin.close()
    assert "the partition begins at offset 2" in str(await read_at(kafka, topic, 0, 1))
    assert [record.value async for record in read_to_end(kafka, [topic])] == [b"2", b"3"]


async def _create(kafka: Connection, topic: NewTopic) -> None:
    admin = AIOKafkaAdminClient(**kafka.options())
    await admin.start()
    await admin.create_topics([topic])
    await admin.close()
