"""The recorded phones through a real Kafka and Redis: one judge, three, and one of the three killed in the middle.

Expected numbers: counted by hand from the recording, and the same as on the embedded services (tests/journeys).
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition

from schemas.topics import TELEMETRY
from tests.data import data_file
from tests.services.process import ROOT

pytestmark = [pytest.mark.anyio, pytest.mark.real]

EXPECTED = {
    "items": 100, "drafts_judged": 296, "served_by_attempt": [26, 10, 6, 5], "dropped": 53, "undecided": 0,
    "exhausted": 0, "human_fail_by_attempt": [3, 1, 1, 0], "human_undecided_by_attempt": [0, 0, 0, 0],
}  # fmt: skip
RECORDS = 296 + 100  # attempt records and decisions, without repetitions
LONGEST_S = 120.0


class Replay:
    """``assay replay`` as a process with topics of its own."""

    def __init__(self, kafka: str, redis: str, prefix: str, *, judges: int) -> None:
        self.kafka, self.prefix = kafka, prefix
        drafts, sources = data_file("quintd_gsmarena.jsonl"), data_file("quintd_sources.jsonl")
        arguments = [
            str(drafts), "--sources", str(sources), "--order", "gpt-3.5,llama2,mistral,zephyr",
            "--judge", "gpt-4-1106-preview", "--retry-budget", "3", "--judges", str(judges), "--json",
        ]  # fmt: skip
        environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")},
            "ASSAY_KAFKA": kafka, "ASSAY_REDIS": redis, "ASSAY_TOPIC_PREFIX": prefix, "ASSAY_GROUP_PREFIX": prefix,
            "ASSAY_SESSION_TIMEOUT_S": "3", "ASSAY_DRAIN_TIMEOUT_S": "1", "ASSAY_REBALANCE_TIMEOUT_S": "6",
        }  # fmt: skip
        self.process = subprocess.Popen(
            [sys.executable, "-m", "workers.cli.main", "replay", *arguments],
            cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    async def summary(self) -> object:
        out, err = await asyncio.to_thread(self.process.communicate, timeout=LONGEST_S)
        assert self.process.returncode == 0, err.decode()[-3000:]
        return json.loads(out)

    def judges(self) -> list[int]:
        """Process ids of the judge workers."""
        pids = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [int(pid) for pid in pids if b"judge" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")]

    async def telemetry(self) -> int:
        """Records on this replay's telemetry topic; 0 before there is one."""
        async with AIOKafkaConsumer(bootstrap_servers=self.kafka) as consumer:
            topics = [name for name in await consumer.topics() if name.startswith(self.prefix)]
            partitions = [
                TopicPartition(name, number)
                for name in topics if name.endswith(TELEMETRY.name) for number in range(TELEMETRY.partitions)
            ]  # fmt: skip
            return sum((await consumer.end_offsets(partitions)).values()) if partitions else 0

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


@asynccontextmanager
async def replaying(kafka: str, redis: str, prefix: str, *, judges: int) -> AsyncIterator[Replay]:
    run = Replay(kafka, redis, prefix + ".", judges=judges)
    try:
        yield run
    finally:
        run.close()


@pytest.mark.parametrize("judges", [1, 3])
async def test_the_real_services_print_the_line_of_the_embedded_ones(
    real_kafka: str, real_redis: str, unique: Callable[[str], str], judges: int
) -> None:
    async with replaying(real_kafka, real_redis, unique("replay"), judges=judges) as run:
        assert await run.summary() == EXPECTED


async def test_one_of_three_judges_is_killed_in_the_middle_and_the_line_is_the_same(
    real_kafka: str, real_redis: str, unique: Callable[[str], str]
) -> None:
    async with replaying(real_kafka, real_redis, unique("replay"), judges=3) as run:
        async with asyncio.timeout(LONGEST_S):
            while await run.telemetry() < 20:  # noqa: ASYNC110 - it happens in another process
                await asyncio.sleep(0.01)
        victim, *_ = run.judges()
        os.kill(victim, signal.SIGKILL)
        assert await run.telemetry() < RECORDS * 3 // 4, "the replay was nearly over: this kill shows nothing"
        assert await run.summary() == EXPECTED
