"""A handful of worker processes that are killed, stopped and joined, and the account of what they did."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

KEYS = 40
PARTITIONS = 4


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

    def __init__(self, kafka: str, unique: Callable[[str], str], folder: Path, *, session_s: float = 2.0) -> None:
        """A killed worker is missed for ``session_s``; a real Kafka takes as few as its configuration lets it."""
        self.kafka, self.session_s = kafka, session_s
        self.drafts, self.out, self.group = unique("drafts"), unique("out"), unique("group")
        self.log = folder / "log"
        self.log.touch()
        self.workers: list[subprocess.Popen[bytes]] = []

    def start(self, **options: float) -> subprocess.Popen[bytes]:
        arguments = [self.kafka, self.drafts, self.out, self.group, str(self.log)]
        arguments.append(json.dumps({"session_s": self.session_s} | options))
        worker = subprocess.Popen([sys.executable, "-m", "tests.contract.faulty_worker", *arguments])
        self.workers.append(worker)
        return worker

    async def end(self, worker: subprocess.Popen[bytes], number: int = signal.SIGTERM) -> int:
        worker.send_signal(number)
        return await asyncio.to_thread(worker.wait, 20)

    async def publish(self, count: int, first: int = 0) -> None:
        async with AIOKafkaProducer(bootstrap_servers=self.kafka) as producer:
            for number in range(first, first + count):
                await producer.send(self.drafts, b"%d" % number, key=b"k%d" % (number % KEYS))

    def started(self) -> Counter[tuple[int, int]]:
        lines = [line.split() for line in self.log.read_text().splitlines() if line.startswith("start")]
        return Counter((int(partition), int(offset)) for _, _, partition, offset in lines)

    def pids(self) -> set[str]:
        """The processes that began a record."""
        return {line.split()[1] for line in self.log.read_text().splitlines()}

    async def until_started(self, count: int) -> None:
        async with asyncio.timeout(20):
            while len(self.started()) < count:  # noqa: ASYNC110 - it happens in another process
                await asyncio.sleep(0.02)

    async def result(self, count: int, timeout_s: float = 30) -> Run:
        """Everything produced, once all numbers up to ``count`` are there."""
        outputs: list[tuple[bytes, int]] = []
        async with AIOKafkaConsumer(
            self.out, bootstrap_servers=self.kafka, auto_offset_reset="earliest", fetch_max_wait_ms=10
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
            self.out, bootstrap_servers=self.kafka, auto_offset_reset="earliest", fetch_max_wait_ms=10
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
