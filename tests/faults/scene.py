"""A scene of a fault test: topics under a prefix of their own, worker processes, a load of drafts, the checker."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, NamedTuple

import aiohttp
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from schemas.topics import DEAD_LETTERS, DRAFTS, TELEMETRY, TOPICS, VERDICTS, Topic
from tests.faults.checker import Findings, check, most_common, read
from tests.services.process import ROOT
from workers.proof.claims import claims
from workers.proof.gather import gather
from workers.runtime.connection import Connection
from workers.runtime.naming import Names
from workers.runtime.topic_admin import copies, topic_admin
from workers.runtime.topic_plan import plan, wanted

PARTITIONS = 8
RETRY_BUDGET = 3  # of the example BOM
JUDGE = ("-m", "workers.cli.main", "run", "judge")
"""The judge worker as it is in production; without it a scene starts the fault worker."""


_DESK = {"role": "target", "metadata": {"name": "Orla Desk", "top": "bamboo"}}
_TEXT = "the Orla Desk has a top of bamboo and stands by the window, where the light comes from the left"
_FAIL = "FAIL, the best ever"
"""The fault worker fails it for its first word, the example BOM's rules for the other ones."""


class Out(NamedTuple):
    """A record to publish."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()


def load(items: int, *, words: Mapping[int, str] | None = None) -> Iterator[Out]:
    """Three rounds an item: served at once, served after a revision, dropped: seven drafts, in order.

    ``words`` are put into the texts of every nth draft: n -> word.
    """
    number = 0
    for attempts in (["PASS"], [_FAIL, "PASS"], [_FAIL] * (RETRY_BUDGET + 1)):
        for attempt, label in enumerate(attempts):
            for item in range(items):
                number += 1
                extra = "".join(f" {word}" for nth, word in (words or {}).items() if number % nth == 0)
                yield _draft(item, len(attempts), attempt, f"{label}{extra}")


def _draft(item: int, round_number: int, attempt: int, words: str) -> Out:
    round_id = f"item-{item}-round-{round_number}-attempt-0"
    value = {
        "item_id": f"sku-{item}", "attempt": attempt, "text": f"{words}: {_TEXT} ({item}, {round_number}, {attempt})",
        "context": {"instruction": "Describe the product.", "items": [_DESK]},
        "revises": {"revision_id": "x", "round_id": round_id, "judged_sha256": "0" * 64} if attempt else None,
    }  # fmt: skip
    event = f"item-{item}-round-{round_number}-attempt-{attempt}"
    return Out(f"sku-{item}".encode(), json.dumps(value).encode(), (("ce_id", event.encode()),))


class Scene:
    """Worker processes and their topics. ``close`` kills what still runs."""

    def __init__(self, kafka: str, prefix: str, *, delays_s: str = "0.2,0.8", **settings: str) -> None:
        self.kafka, self.prefix = kafka, prefix
        self._workers: list[subprocess.Popen[bytes]] = []
        self.log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")},
            "ASSAY_KAFKA": kafka, "ASSAY_TOPIC_PREFIX": prefix, "ASSAY_GROUP_PREFIX": prefix,
            "ASSAY_CONCURRENCY": "200", "ASSAY_WINDOW": "400", "ASSAY_SESSION_TIMEOUT_S": "3",
            "ASSAY_DRAIN_TIMEOUT_S": "1", "ASSAY_REBALANCE_TIMEOUT_S": "6", "ASSAY_TEST_DELAYS_S": delays_s,
            **settings,
        }  # fmt: skip

    async def create_topics(self) -> None:
        topics = [wanted(row, self.prefix, partitions=PARTITIONS) for row in TOPICS]
        async with topic_admin(Connection(tuple(self.kafka.split(",")))) as admin:
            number = copies(None, brokers=await admin.brokers())
            await admin.apply(plan(topics, {}, replication=number))

    def start(self, command: Sequence[str] = ("-m", "tests.faults.worker")) -> subprocess.Popen[bytes]:
        worker = subprocess.Popen(
            [sys.executable, *command], cwd=ROOT, env=self._environ, stderr=self.log, stdout=self.log
        )
        self._workers.append(worker)
        return worker

    @property
    def running(self) -> list[subprocess.Popen[bytes]]:
        return [worker for worker in self._workers if worker.poll() is None]

    async def publish(self, outs: Iterator[Out], *, per_s: float = 5_000.0, max_bytes: int = 1_048_576) -> int:
        """Publish at most so many a second, each confirmed by all replicas; how many."""
        futures = []
        began = time.monotonic()
        producer = AIOKafkaProducer(
            bootstrap_servers=self.kafka, acks="all", enable_idempotence=True, max_request_size=max_bytes
        )
        await producer.start()
        for number, out in enumerate(outs):
            topic = self.prefix + DRAFTS.name
            futures.append(await producer.send(topic, out.value, key=out.key, headers=list(out.headers)))
            if number % 50 == 0:
                await asyncio.sleep(max(0.0, number / per_s - (time.monotonic() - began)))
        await asyncio.gather(*futures)
        await producer.stop()
        return len(futures)

    async def check(self) -> Findings:
        topics = (DRAFTS, VERDICTS, TELEMETRY, DEAD_LETTERS)
        return check(*[await read(self.kafka, self.prefix + topic.name) for topic in topics])

    async def until_answered(self, more: int | None = None, *, timeout_s: float = 90.0) -> Findings:
        """Wait until every draft has a fate, or so many more than now. Raises TimeoutError with the last logs."""
        deadline = time.monotonic() + timeout_s
        found = await self.check()
        goal = found.answered + more if more is not None else None
        async with self._counting() as records:
            while found.answered < (found.drafts if goal is None else min(goal, found.drafts)) or not found.drafts:
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{found.answered} of {found.drafts}: {most_common(found)}\n{self.logs()}")
                await asyncio.sleep(0.1)
                # Reading all of it costs the workers a core; it is read when there may be enough.
                fates, drafts = await records(VERDICTS, DEAD_LETTERS), await records(DRAFTS)
                if drafts and fates >= (drafts if goal is None else min(goal, drafts)):
                    found = await self.check()
        return found

    async def contradictions(self) -> list[str]:
        """What `assay prove` finds: the workers' own reading of their topics, beside the checker's."""
        kafka, group = Connection(tuple(self.kafka.split(","))), f"{self.prefix}judge"
        ledger, kept = await gather(kafka, Names(self.prefix), group=group, read=lambda n: None)
        return [line for claim in claims(ledger, kept, now=datetime.now(UTC)) for line in claim.broken]

    async def until_more_verdicts(self, more: int, *, timeout_s: float = 60.0) -> None:
        """Wait for so many records more on verdicts, looking often: what is in flight then, is in flight still."""
        async with self._counting() as records, asyncio.timeout(timeout_s):
            goal = await records(VERDICTS) + more
            while await records(VERDICTS) < goal:  # noqa: ASYNC110 - it happens in another process
                await asyncio.sleep(0.05)

    @asynccontextmanager
    async def _counting(self) -> AsyncIterator[Callable[..., Awaitable[int]]]:
        """How many records are on topics, without reading one: repetitions included."""
        consumer = AIOKafkaConsumer(bootstrap_servers=self.kafka)
        await consumer.start()
        await asyncio.sleep(0)  # a consumer that is stopped before its tasks have run once is cancelled by its own stop

        async def records(*topics: Topic) -> int:
            rows = [TopicPartition(self.prefix + one.name, number) for one in topics for number in range(PARTITIONS)]
            return sum((await consumer.end_offsets(rows)).values())

        try:
            yield records
        finally:
            await consumer.stop()

    async def in_flight(self) -> int:
        """Records that the worker started last is running, by its own account."""
        rows = [json.loads(line) for line in self._logged().splitlines() if b'"listening"' in line]
        url = f"http://127.0.0.1:{rows[-1]['port']}/metrics"
        async with aiohttp.ClientSession() as session, session.get(url) as response:
            text = await response.text()
        (line,) = [line for line in text.splitlines() if line.startswith("assay_running_records{")]
        return int(float(line.rsplit(" ", 1)[1]))

    def stop(self, worker: subprocess.Popen[bytes], *, timeout_s: float = 20.0) -> int:
        """SIGTERM; its exit code."""
        worker.send_signal(signal.SIGTERM)
        return worker.wait(timeout_s)

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        worker.kill()
        worker.wait()

    async def until_joined(self, workers: int, *, timeout_s: float = 30.0) -> None:
        """Wait until so many workers have joined their group, those that have left again included."""
        async with asyncio.timeout(timeout_s):
            while self._logged().count(b'"event": "started"') < workers:  # noqa: ASYNC110 - it happens in another process
                await asyncio.sleep(0.05)

    def logs(self) -> str:
        return self._logged().decode(errors="replace")[-6000:]

    def _logged(self) -> bytes:
        """Read without moving the offset, which the workers write at."""
        return os.pread(self.log.fileno(), os.fstat(self.log.fileno()).st_size, 0)

    def close(self) -> None:
        for worker in self.running:
            self.kill(worker)
        self.log.close()


def memory_mib(worker: subprocess.Popen[bytes]) -> float:
    """Resident memory of a worker, MiB."""
    pages = int(Path(f"/proc/{worker.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
