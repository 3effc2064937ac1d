"""Workers are killed, stopped, joined and cut off: nothing is lost, keys stay in order, little runs twice."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

pytestmark = pytest.mark.anyio

KEYS = 40


class Run(NamedTuple):
    """What a scenario left behind."""

    started: Counter[tuple[int, int]]  # (partition, offset) -> how often a handler began
    outputs: list[tuple[bytes, int]]  # (key, number), in the order of each partition

    def lost(self, count: int) -> set[int]:
        return set(range(count)) - {number for _, number in self.outputs}

    @property
    def duplicates(self) -> int:
        return len(self.outputs) - len({number for _, number in self.outputs})

    @property
    def runs_again(self) -> int:
        return sum(self.started.values()) - len(self.started)

    @property
    def out_of_order(self) -> list[bytes]:
        """Keys of which first outputs are not in the order of the records."""
        first: dict[bytes, dict[int, None]] = {}
        for key, number in self.outputs:
            first.setdefault(key, {})[number] = None
        return [key for key, numbers in first.items() if list(numbers) != sorted(numbers)]


class Scenario:
    """Topics of their own, a handful of worker processes, and everything they did."""

    def __init__(self, services, unique, folder: Path, *, partitions: int = 4) -> None:
        self.services = services
        self.drafts, self.out, self.group = unique("drafts"), unique("out"), unique("group")
        self.log = folder / "log"
        self.log.touch()
        for topic in (self.drafts, self.out):
            services.create_topic(topic, partitions)
        self.workers: list[subprocess.Popen[bytes]] = []

    def start(self, **options: float) -> subprocess.Popen[bytes]:
        arguments = [self.services.kafka, self.drafts, self.out, self.group, str(self.log), json.dumps(options)]
        worker = subprocess.Popen([sys.executable, "-m", "tests.workers.runtime.faulty_worker", *arguments])
        self.workers.append(worker)
        return worker

    async def end(self, worker: subprocess.Popen[bytes], number: int = signal.SIGTERM) -> int:
        worker.send_signal(number)
        return await asyncio.to_thread(worker.wait, 20)

    async def publish(self, count: int, first: int = 0) -> None:
        async with AIOKafkaProducer(bootstrap_servers=self.services.kafka) as producer:
            for number in range(first, first + count):
                await producer.send(self.drafts, b"%d" % number, key=b"k%d" % (number % KEYS))

    def started(self) -> Counter[tuple[int, int]]:
        lines = [line.split() for line in self.log.read_text().splitlines() if line.startswith("start")]
        return Counter((int(partition), int(offset)) for _, _, partition, offset in lines)

    async def until_started(self, count: int) -> None:
        async with asyncio.timeout(20):
            while len(self.started()) < count:  # noqa: ASYNC110 - it happens in another process
                await asyncio.sleep(0.02)

    async def result(self, count: int, timeout_s: float = 30) -> Run:
        """Everything produced, once all numbers up to ``count`` are there."""
        outputs: list[tuple[bytes, int]] = []
        async with AIOKafkaConsumer(
            self.out, bootstrap_servers=self.services.kafka, auto_offset_reset="earliest", fetch_max_wait_ms=10
        ) as reader, asyncio.timeout(timeout_s):  # fmt: skip
            while len({number for _, number in outputs}) < count:
                for batch in (await reader.getmany(timeout_ms=100)).values():
                    outputs += [(record.key, int(record.value)) for record in batch]
        return Run(self.started(), outputs)

    async def rest(self, run: Run) -> Run:
        """The same once every worker has ended: whatever came late is in it."""
        for worker in self.workers:
            if worker.poll() is None:
                await self.end(worker)
        outputs: list[tuple[bytes, int]] = []
        async with AIOKafkaConsumer(
            self.out, bootstrap_servers=self.services.kafka, auto_offset_reset="earliest", fetch_max_wait_ms=10
        ) as reader:
            while batches := await reader.getmany(timeout_ms=300):
                for batch in batches.values():
                    outputs += [(record.key, int(record.value)) for record in batch]
        return Run(self.started(), outputs)

    def close(self) -> None:
        for worker in self.workers:
            if worker.poll() is None:
                worker.kill()
            worker.wait()


@pytest.fixture
def scenario(services, unique, tmp_path):
    made = Scenario(services, unique, tmp_path)
    yield made
    made.close()


async def test_killed_twice_with_work_in_flight(scenario):
    count = 600
    await scenario.publish(count)
    for life in range(2):
        worker = scenario.start()
        await scenario.until_started(150 * (life + 1))
        await scenario.end(worker, signal.SIGKILL)
    scenario.start()
    run = await scenario.rest(await scenario.result(count))
    assert run.lost(count) == set()
    assert run.out_of_order == []
    # Each kill leaves at most what ran (40 keys) and what finished since the last commit.
    assert run.runs_again <= 2 * (KEYS + 60)


async def test_stopped_with_work_in_flight_runs_nothing_again(scenario):
    count = 400
    await scenario.publish(count)
    for life in range(2):
        worker = scenario.start()
        await scenario.until_started(120 * (life + 1))
        assert await scenario.end(worker) == 0
    scenario.start()
    run = await scenario.rest(await scenario.result(count))
    assert (run.lost(count), run.out_of_order, run.duplicates, run.runs_again) == (set(), [], 0, 0)


async def test_a_second_worker_joins_and_leaves(scenario):
    count = 800
    scenario.start()
    await scenario.publish(count // 2)
    await scenario.until_started(50)
    second = scenario.start()
    await scenario.publish(count // 2, count // 2)
    await scenario.until_started(500)
    await scenario.end(second)
    run = await scenario.rest(await scenario.result(count))
    assert (run.lost(count), run.out_of_order) == (set(), [])


async def test_a_call_that_outlasts_the_session_blocks_nobody_and_is_not_run_twice(scenario):
    count = 200
    await scenario.publish(count)
    scenario.start(slow=3, slow_s=3.5, hi=0.05, session_s=2.0)
    run = await scenario.result(count)
    run = await scenario.rest(run)
    assert (run.lost(count), run.out_of_order, run.runs_again) == (set(), [], 0)


async def test_commits_are_refused_and_heartbeats_fail(own_services, unique, tmp_path):
    scenario = Scenario(own_services, unique, tmp_path)
    try:
        count = 400
        await scenario.publish(count)
        worker = scenario.start()
        await scenario.until_started(100)
        own_services.push_errors("OffsetCommit", [25, 27, 14, 7])
        own_services.push_errors("Heartbeat", [27])
        run = await scenario.result(count)
        own_services.push_errors("OffsetCommit", [27])
        assert await scenario.end(worker) == 0
        scenario.start()
        await scenario.publish(40, count)
        run = await scenario.rest(await scenario.result(count + 40))
        assert (run.lost(count + 40), run.out_of_order) == (set(), [])
    finally:
        scenario.close()


async def test_kafka_goes_away_and_comes_back(own_services, unique, tmp_path):
    scenario = Scenario(own_services, unique, tmp_path)
    try:
        count = 300
        await scenario.publish(count)
        worker = scenario.start()
        await scenario.until_started(80)
        own_services.broker_down(1)
        await asyncio.sleep(1.5)
        own_services.broker_up(1)
        run = await scenario.result(count)
        assert worker.poll() is None
        run = await scenario.rest(run)
        assert (run.lost(count), run.out_of_order) == (set(), [])
    finally:
        scenario.close()
