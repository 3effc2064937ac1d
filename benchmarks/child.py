"""One measured process: a worker as in production, or the bare loop. ``python -m benchmarks.child JOB`` (JSON).

It prints ``ready`` when it reads, works until it has done ``count`` records or its standard input ends, and prints what
it saw as one JSON line.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from prometheus_client import CollectorRegistry

from benchmarks.sampling import Sampler
from workers.roles import ROLES, run_role
from workers.runtime.garbage import collect_less
from workers.runtime.intake import BATCH_RECORDS, FETCH_WAIT_MS
from workers.runtime.metrics import Metrics
from workers.runtime.naming import Names
from workers.runtime.settings import Settings

TICK_S = 0.02
COUNTED = ("assay_model_throttled_total", "assay_model_waits_total", "assay_commits_refused_total")


class Seen(NamedTuple):
    """One look: moment and CPU in seconds, records done and offset commits so far, resident memory in MiB."""

    at: float
    cpu_s: float
    done: int
    rss_mib: float
    commits: int = 0


def look(done: int, commits: int) -> Seen:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Seen(time.monotonic(), time.process_time(), done, pages * os.sysconf("SC_PAGE_SIZE") / 2**20, commits)


async def watched(
    work: Callable[[asyncio.Event, Callable[[], None]], Awaitable[None]],
    done: Callable[[], int],
    count: int,
    *,
    commits: Callable[[], int] = int,
    tick_s: float = TICK_S,
    counted: Callable[[], dict[str, float]] = dict,
) -> None:
    """Run ``work`` until ``done`` reaches ``count``; print what was seen, a look every ``tick_s``, and what the worker
    ``counted`` by itself."""
    stop, ready, sampler = asyncio.Event(), asyncio.Event(), Sampler()
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), stop.set)
    task = asyncio.ensure_future(work(stop, ready.set))
    await asyncio.wait({task, asyncio.ensure_future(ready.wait())}, return_when=asyncio.FIRST_COMPLETED)
    _say("ready")
    series: list[Seen] = [look(0, 0)]
    sampler.start()
    while not stop.is_set() and not task.done() and series[-1].done < count:
        await asyncio.sleep(tick_s)
        series.append(look(done(), commits()))
    sampler.stop()
    stop.set()
    await task
    _say(json.dumps({"series": series, "samples": sampler.counts, "counted": counted()}))


async def judge(job: dict[str, Any]) -> None:
    """The judge worker, wired and run by the code that runs it in production."""
    settings, registry = Settings(**job["settings"]), CollectorRegistry()
    metrics = Metrics(registry)
    topic = {"topic": settings.topic_prefix + "drafts"}

    def done() -> int:
        metrics.refresh()
        return int(registry.get_sample_value("assay_records_done_total", topic) or 0)

    def commits() -> int:
        return int(registry.get_sample_value("assay_commits_total", topic) or 0)

    async def work(stop: asyncio.Event, ready: Callable[[], None]) -> None:
        collect_less()  # as ``assay run`` does
        await run_role(ROLES["judge"], settings, metrics=metrics, stop=stop, ready=ready)

    def counted() -> dict[str, float]:
        samples = [sample for metric in registry.collect() for sample in metric.samples]
        return {name: sum(s.value for s in samples if s.name == name) for name in COUNTED}

    await watched(work, done, job["count"], commits=commits, tick_s=job.get("tick_s", TICK_S), counted=counted)


async def bare(job: dict[str, Any]) -> None:
    """Read a batch, send as many bytes to the same topics under the same keys, wait for all of it, commit; again."""
    settings = Settings(**job["settings"])
    names = Names(settings.topic_prefix)
    outs = [(settings.topic_prefix + topic, bytes(size)) for topic, size in job["outs"]]
    total = 0

    async def work(stop: asyncio.Event, ready: Callable[[], None]) -> None:
        nonlocal total
        consumer = AIOKafkaConsumer(
            names.prefix + "drafts", bootstrap_servers=settings.kafka, group_id=settings.group_prefix + "bare",
            enable_auto_commit=False, auto_offset_reset="earliest", fetch_max_wait_ms=FETCH_WAIT_MS,
        )  # fmt: skip
        producer = AIOKafkaProducer(
            bootstrap_servers=settings.kafka, acks="all", enable_idempotence=True, max_batch_size=256 * 1024
        )
        await consumer.start()
        await producer.start()
        ready()
        while not stop.is_set():
            batches = await consumer.getmany(timeout_ms=FETCH_WAIT_MS, max_records=BATCH_RECORDS)
            records = [record for batch in batches.values() for record in batch]
            sent = [await producer.send(topic, value, key=record.key) for record in records for topic, value in outs]
            for confirmed in sent:
                await confirmed
            if records:
                await consumer.commit()
            total += len(records)
        await producer.stop()
        await consumer.stop()

    await watched(work, lambda: total, job["count"])


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    asyncio.run({"judge": judge, "bare": bare}[asked["kind"]](asked))
