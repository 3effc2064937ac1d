"""The embedded services speak the real protocols, obey, and never outlive their parent."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import redis
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError

from workers.embedded.services import ChildServices, InProcess


@pytest.mark.anyio
@pytest.mark.parametrize("kind", [ChildServices, InProcess])
async def test_a_record_goes_in_and_comes_out_with_its_key_in_one_of_the_topics_partitions(kind):
    services = kind()
    try:
        services.create_topic("drafts", 3)
        async with AIOKafkaProducer(bootstrap_servers=services.kafka) as producer:
            await producer.send_and_wait("drafts", b"text", key=b"sku-1", headers=[("h", b"\xff")])
        async with AIOKafkaConsumer(
            "drafts", bootstrap_servers=services.kafka, auto_offset_reset="earliest"
        ) as consumer:
            record = await asyncio.wait_for(consumer.getone(), 10)
            assert len(consumer.assignment()) == 3
        assert (record.key, record.value, record.headers) == (b"sku-1", b"text", (("h", b"\xff"),))
        with redis.Redis.from_url(services.redis) as cache:
            cache.set("a", "b" * 3_000_000, ex=60)
            assert len(cache.mget(["a", "none"])[0]) == 3_000_000
            assert cache.eval("return redis.call('ttl', KEYS[1])", 1, "a") > 50
    finally:
        services.close()


def test_a_topic_that_exists_is_left_alone_and_nonsense_is_refused(services, unique):
    topic = unique("twice")
    services.create_topic(topic, 2)
    services.create_topic(topic, 2)
    with pytest.raises(ValueError, match="at least 1 partition"):
        services.create_topic(unique("none"), -1)
    with pytest.raises(ValueError, match="push_errors"):
        services.push_errors("NoSuchRequest", [7])


@pytest.mark.anyio
async def test_injected_errors_and_deleted_records_reach_the_client(services, unique):
    topic = unique("cut")
    services.create_topic(topic, 1)
    async with AIOKafkaProducer(bootstrap_servers=services.kafka) as producer:
        services.push_errors("Produce", [10])  # MESSAGE_TOO_LARGE
        with pytest.raises(KafkaError, match=r"\[Error 10\]"):
            await producer.send_and_wait(topic, b"refused")
        for number in range(5):
            await producer.send_and_wait(topic, b"%d" % number)
    services.delete_records(topic, 0, 3)
    async with AIOKafkaConsumer(bootstrap_servers=services.kafka) as consumer:
        partition = TopicPartition(topic, 0)
        assert await consumer.beginning_offsets([partition]) == {partition: 3}


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_the_child_dies_with_a_parent_that_was_killed():
    program = (
        "from workers.embedded.services import ChildServices; import time\n"
        "print(ChildServices().pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    with parent.stdout:
        child = int(parent.stdout.readline())
        assert alive(child)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    deadline = time.monotonic() + 5
    while alive(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(child)
