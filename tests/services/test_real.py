"""The real services themselves: they start, answer, hold what the workers rely on, and never outlive their starter."""

from __future__ import annotations

import os
import ssl
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.structs import OffsetAndMetadata
from redis.asyncio import Redis

from tests.services import fixtures, kafka
from tests.services.kafka import RealKafka
from tests.services.process import ROOT
from tests.services.redis import RealRedis
from workers.runtime.connection import Connection

pytestmark = [pytest.mark.anyio, pytest.mark.real]

Unique = Callable[[str], str]


async def _create(options: dict[str, object], topic: str) -> None:
    admin = AIOKafkaAdminClient(**options)
    await admin.start()
    await admin.create_topics([NewTopic(topic, 2, 1)])
    await admin.close()


async def _produce(options: dict[str, object], topic: str) -> int:
    producer = AIOKafkaProducer(**options, acks="all", enable_idempotence=True)
    await producer.start()
    sent = await producer.send_and_wait(topic, b"value", key=b"key", partition=1, headers=[("name", b"\xff")])
    await producer.stop()
    return int(sent.offset)


async def test_a_record_and_a_commit_with_metadata_come_back_from_a_real_kafka(real_kafka: str, unique: Unique) -> None:
    options, topic, group = Connection((real_kafka,)).options(), unique("proof"), unique("group")
    await _create(options, topic)
    assert await _produce(options, topic) == 0

    consumer = AIOKafkaConsumer(
        topic, **options, group_id=group, enable_auto_commit=False, auto_offset_reset="earliest"
    )
    await consumer.start()
    record = await consumer.getone()
    await consumer.commit({TopicPartition(topic, 1): OffsetAndMetadata(1, "b" * 4096)})
    committed = await consumer._coordinator.fetch_committed_offsets([TopicPartition(topic, 1)])
    await consumer.stop()

    assert (record.key, record.value, record.headers) == (b"key", b"value", (("name", b"\xff"),))
    assert committed[TopicPartition(topic, 1)] == OffsetAndMetadata(1, "b" * 4096)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
async def test_kafka_with_tls_and_a_password_lets_in_who_knows_it(
    secure_kafka: RealKafka, unique: Unique, mechanism: str
) -> None:
    assert secure_kafka.certificates is not None
    tls = ssl.create_default_context(cafile=str(secure_kafka.certificates.ca))
    known = Connection((secure_kafka.secure_bootstrap,), tls, mechanism, kafka.USER, kafka.PASSWORD)
    topic = unique("secure")
    await _create(known.options(), topic)
    assert await _produce(known.options(), topic) == 0


async def test_redis_with_tls_and_a_password_lets_in_who_knows_it(secure_redis: RealRedis) -> None:
    assert secure_redis.certificates is not None
    async with Redis.from_url(secure_redis.url, ssl_ca_certs=str(secure_redis.certificates.ca)) as client:
        assert await client.set("a", "b")
        assert await client.get("a") == b"b"


async def test_a_real_redis_answers(real_redis: str) -> None:
    async with Redis.from_url(real_redis) as client:
        assert await client.ping()


def test_a_stopped_kafka_closes_its_logs_and_starts_again_with_its_records(own_kafka: RealKafka) -> None:
    clean = Path(own_kafka.nodes[0].log).parent / "data" / ".kafka_cleanshutdown"
    own_kafka.stop()
    assert clean.exists()
    assert own_kafka.start() < 30
    own_kafka.kill()
    assert not clean.exists()


def test_services_do_not_outlive_a_starter_that_was_killed() -> None:
    source = (
        "from tests.services.redis import RealRedis; import time; r = RealRedis(); "
        "print(r.process.pid, flush=True); time.sleep(60)"
    )
    starter = subprocess.Popen([sys.executable, "-c", source], cwd=ROOT, stdout=subprocess.PIPE)
    assert starter.stdout is not None
    server = int(starter.stdout.readline())
    starter.kill()
    starter.wait()
    starter.stdout.close()
    deadline = time.monotonic() + 5
    while Path(f"/proc/{server}").exists():
        assert time.monotonic() < deadline, "the server is an orphan"
        time.sleep(0.02)


@pytest.mark.parametrize(("ci", "raised"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)])
def test_a_missing_service_is_a_failure_in_ci_alone(
    monkeypatch: pytest.MonkeyPatch, ci: str, raised: type[BaseException]
) -> None:
    monkeypatch.setenv("CI", ci)
    with pytest.raises(raised, match="no java"):
        fixtures.unavailable("no java")


def test_the_script_runs_a_command_between_start_and_stop() -> None:
    done = subprocess.run(
        ["scripts/services", "run", "--", sys.executable, "-c", "import os; print(os.environ['ASSAY_KAFKA'])"],
        cwd=ROOT, env={**os.environ, "PYTHON": sys.executable}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("127.0.0.1:")
