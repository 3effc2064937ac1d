"""The services a bench stands on, and the processes it measures."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, Self

from prometheus_client import CollectorRegistry

from benchmarks.child import Seen
from schemas.drafts import Draft
from schemas.topics import TOPICS
from tests.services.kafka import RealKafka
from tests.services.redis import RealRedis, why_no_redis
from workers.bom import load_bom, read_files
from workers.embedded.services import ChildServices
from workers.local.stage import make_topics
from workers.publish.records import draft_record
from workers.roles import ROLES
from workers.runtime.connection import connection
from workers.runtime.metrics import Metrics
from workers.runtime.naming import Names
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.records import InRecord, OutRecord
from workers.runtime.settings import Settings

LONGEST_RUN_S = 120.0
BATCH = 500


class Ground:
    """Services for one bench. Every ``fresh`` set of topics has a prefix of its own, so that no run sees another's."""

    def __init__(self, *, kafka: str, redis: str, cache: str, folder: Path, create: Callable[[Settings], None]) -> None:
        self.kafka, self.redis, self.cache, self.folder = kafka, redis, cache, folder
        self._create, self._numbers = create, count()

    def fresh(self, bom: Path, **more: Any) -> Settings:
        """Settings of a worker on new, empty topics."""
        prefix = f"bench{os.getpid()}.{next(self._numbers)}."
        settings = Settings(
            kafka=self.kafka, redis=self.redis, bom=bom, topic_prefix=prefix, group_prefix=prefix, **more
        )
        self._create(settings)
        return settings

    def bom(self, make: Callable[[Path], Path]) -> Path:
        """A BOM, made once."""
        folder = self.folder / make.__name__
        return folder if folder.exists() else make(folder)


@contextmanager
def ground(*, real: bool) -> Iterator[Ground]:
    """Embedded broker in a child process, or a real Kafka; a real Redis wherever there is one."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-bench-")))
        embedded = None if real else stack.enter_context(ChildServices())
        redis, cache = _redis(embedded, stack)
        if embedded is not None:
            yield Ground(kafka=embedded.kafka, redis=redis, cache=cache, folder=folder, create=_on(embedded))
            return
        kafka = os.environ.get("ASSAY_TEST_KAFKA") or stack.enter_context(RealKafka()).bootstrap
        yield Ground(kafka=kafka, redis=redis, cache=cache, folder=folder, create=_on_a_cluster)


def _redis(embedded: ChildServices | None, stack: ExitStack) -> tuple[str, str]:
    if given := os.environ.get("ASSAY_TEST_REDIS"):
        return given, "the Redis given"
    if embedded is None or why_no_redis() is None:
        return stack.enter_context(RealRedis()).url, "redis-server"
    return embedded.redis, "the embedded cache (no redis-server here)"


def _on(embedded: ChildServices) -> Callable[[Settings], None]:
    def create(settings: Settings) -> None:
        for topic in TOPICS:
            embedded.create_topic(settings.topic_prefix + topic.name, topic.partitions)

    return create


def _on_a_cluster(settings: Settings) -> None:
    asyncio.run(make_topics(settings))


class Run(NamedTuple):
    """What one process did: looks in order, samples of whose code its CPU was in, and its own counters."""

    series: Sequence[Seen]
    samples: dict[str, int]
    counted: dict[str, float]

    def between(self, first: int, last: int) -> tuple[float, float]:
        """(records a second, CPU seconds a record) from the ``first`` to the ``last`` record done."""
        begin = next(seen for seen in self.series if seen.done >= first)
        end = next(seen for seen in self.series if seen.done >= last)
        records = end.done - begin.done
        return records / (end.at - begin.at), (end.cpu_s - begin.cpu_s) / records

    def shares(self) -> str:
        """Where the CPU went, the largest first."""
        whole = sum(self.samples.values()) or 1
        ranked = sorted(self.samples.items(), key=lambda item: -item[1])
        return ", ".join(f"{name} {100 * n / whole:.0f} %" for name, n in ranked if n >= 0.01 * whole)


class Child:
    """A process of ``benchmarks.child``; ``result`` waits for its end, leaving the block ends it."""

    def __init__(self, kind: str, settings: Settings, *, records: int, **job: Any) -> None:
        plain = settings.model_dump(mode="json", exclude_unset=True) | {"redis": _shown(settings)}
        asked = json.dumps({"kind": kind, "settings": plain, "count": records, **job})
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.child", asked], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self._input, self._process.stdin = self._process.stdin, None  # or ``communicate`` would end it
        if self._process.stdout.readline() != "ready\n":
            raise RuntimeError(f"the {kind} process did not start (exit code {self._process.wait()})")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()
        self._end_input()

    @property
    def rss_mib(self) -> float:
        """Its resident memory now."""
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def _end_input(self) -> None:
        if self._input is not None:
            self._input.close()

    def result(self, *, longest_s: float = LONGEST_RUN_S) -> Run:
        out, _ = self._process.communicate(timeout=longest_s)
        if self._process.returncode:
            raise RuntimeError(f"a measured process ended with code {self._process.returncode}")
        found = json.loads(out)
        return Run([Seen(*row) for row in found["series"]], found["samples"], found["counted"])


def _shown(settings: Settings) -> str | None:
    return settings.redis.get_secret_value() if settings.redis else None


@asynccontextmanager
async def producer(settings: Settings) -> AsyncIterator[ConfirmedProducer]:
    """A producer as a user of the topics has it."""
    made = ConfirmedProducer(connection(settings), max_message_bytes=settings.max_message_bytes)
    await made.start()
    try:
        yield made
    finally:
        await made.stop()


def records(settings: Settings, drafts: Sequence[Draft]) -> list[OutRecord]:
    """The drafts as records of the settings' topics."""
    names, at = Names(settings.topic_prefix), datetime.now(UTC)
    return [draft_record(draft, names, source="/bench", at=at) for draft in drafts]


def publish(settings: Settings, drafts: Sequence[Draft]) -> None:
    """Publish and wait until all of it is confirmed."""

    async def work() -> None:
        outs = records(settings, drafts)
        async with producer(settings) as to:
            for start in range(0, len(outs), BATCH):
                await to.produce(outs[start : start + BATCH])

    asyncio.run(work())


def outputs_of(settings: Settings, draft: Draft) -> list[tuple[str, int]]:
    """The records that one draft leads to, as (topic, bytes with headers): asked of the production handler itself."""

    async def work() -> list[OutRecord]:
        bom = load_bom(read_files(settings.bom))
        async with ROLES["judge"].build(settings, bom, Metrics(CollectorRegistry())) as route:
            (given,) = records(settings, [draft])
            return list(await route.process(InRecord(route.topic, 0, 0, given.key, given.value, given.headers)))

    return [
        (out.topic.removeprefix(settings.topic_prefix), len(out.value or b"") + _header_bytes(out))
        for out in asyncio.run(work())
    ]


def _header_bytes(out: OutRecord) -> int:
    return sum(len(name) + len(value or b"") + 2 for name, value in out.headers)
