"""``python -m benchmarks.stats_worker``: the stats worker drains 50,000 events; then ten kills while as many flow.

Events are counted from a tenth of the way to the end by the offsets that the worker has saved, so that starting it does
not count; CPU is that of its process. A bare loop reads the same topics with nothing done, in the same run. The kills
compare the final cells with a batch, to the last integer; what is left of that run is an assertion.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from aiokafka import AIOKafkaConsumer
from redis.asyncio import Redis

from benchmarks.figures import Figure, at_least, at_most
from schemas.topics import TOPICS
from tests.services.redis import RealRedis, why_no_redis
from tests.workers.stats_consumer.simulated import week
from tests.workers.stats_consumer.test_worker_dies import kill_while_counting, out, stats_process
from workers.embedded.services import ChildServices
from workers.runtime.connection import connection
from workers.runtime.naming import Names
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.settings import Settings
from workers.stats_consumer.worker import READS

PARTITIONS = 12  # the embedded broker keeps 5 MiB a partition
KILLS = 10
TARGET = 20_000
LABELLED = 500
"""Sampled items a week with three votes each: S2 7.7 has 300."""

_TICKS = os.sysconf("SC_CLK_TCK")


class Look(NamedTuple):
    at: float
    cpu_s: float
    done: int
    rss_mib: float


async def drain(kafka: str, redis_url: str, prefix: str) -> list[Figure]:
    settings = Settings(kafka=kafka, topic_prefix=prefix)
    events = await _publish(settings)
    bare_cpu_s = await _bare(settings, events)
    looks = await _watched(settings, redis_url, events)
    first = next(look for look in looks if look.done >= events // 10)
    last = looks[-1]
    rate = (last.done - first.done) / (last.at - first.at)
    cpu_us = 1e6 * (last.cpu_s - first.cpu_s) / (last.done - first.done)
    settled = next(look for look in looks if look.done >= events // 2)
    notes = (
        f"{events:,} events, {LABELLED} labelled items a week; CPU {cpu_us:.0f} us an event (bare loop, reading alone: "
        f"{1e6 * bare_cpu_s / events:.0f} us)",
    )
    return [
        at_least("stats", "events counted and saved", f"{rate:,.0f} a second", f"{TARGET:,} a second",
                 ratio=rate / TARGET, target=1, notes=notes),
        at_most("stats", "resident memory of the stats worker", f"{last.rss_mib:.0f} MiB",
                f"{settled.rss_mib:.0f} MiB at half", ratio=last.rss_mib / settled.rss_mib, target=1.2),
    ]  # fmt: skip


async def _publish(settings: Settings) -> int:
    names = Names(settings.topic_prefix)
    said = [m for n in range(2) for m in week(n, random.Random(n), drafts=9_500, labelled=LABELLED)]
    producer = ConfirmedProducer(connection(settings), max_message_bytes=1_000_000)
    await producer.start()
    for at in range(0, len(said), 500):
        await producer.produce([out(message, names) for message in said[at : at + 500]])
    await producer.stop()
    return len(said)


async def _bare(settings: Settings, events: int) -> float:
    """CPU seconds of reading every record and doing nothing."""
    names = Names(settings.topic_prefix)
    consumer = AIOKafkaConsumer(
        *(names.full(topic) for topic in READS), bootstrap_servers=settings.kafka, auto_offset_reset="earliest",
        max_partition_fetch_bytes=8 * 1024 * 1024, fetch_max_wait_ms=20,
    )  # fmt: skip
    await consumer.start()
    began, read = time.process_time(), 0
    while read < events:
        read += sum(map(len, (await consumer.getmany(timeout_ms=100, max_records=5_000)).values()))
    spent = time.process_time() - began
    await consumer.stop()
    return spent


async def _watched(settings: Settings, redis_url: str, events: int) -> list[Look]:
    environ = {
        "ASSAY_KAFKA": settings.kafka or "", "ASSAY_REDIS": redis_url, "ASSAY_TOPIC_PREFIX": settings.topic_prefix,
        "ASSAY_LABEL_WAIT_DAYS": "365", "ASSAY_REVISION_TTL_S": "31622400", "ASSAY_ASSESS_EVERY_S": "3600",
    }  # fmt: skip
    looks: list[Look] = []
    redis = Redis.from_url(redis_url)
    with stats_process(environ) as process:
        async with asyncio.timeout(300):
            while not looks or looks[-1].done < events:
                await asyncio.sleep(0.05)
                looks.append(_look(process.pid, await _saved(redis, settings)))
    await redis.aclose()
    return looks


async def _saved(redis: Redis, settings: Settings) -> int:
    """Events up to the offsets saved: every partition was empty before."""
    fields = [
        f"o|{settings.topic_prefix}{topic.name}|{partition}" for topic in READS for partition in range(PARTITIONS)
    ]
    return sum(int(offset or 0) for offset in await redis.hmget(f"{settings.topic_prefix}stats", fields))


def _look(pid: int, done: int) -> Look:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    cpu_s = (int(fields[11]) + int(fields[12])) / _TICKS
    return Look(time.monotonic(), cpu_s, done, pages * os.sysconf("SC_PAGE_SIZE") / 2**20)


async def main() -> int:
    figures: list[Figure] = []
    with ExitStack() as stack:
        services = stack.enter_context(ChildServices())
        redis_url = services.redis if why_no_redis() else stack.enter_context(RealRedis()).url
        prefix = f"drain{os.getpid()}."
        for topic in TOPICS:
            services.create_topic(prefix + topic.name, min(topic.partitions, PARTITIONS))
        figures += await drain(services.kafka, redis_url, prefix)
        for figure in figures:
            print(figure.line(), *(f"{'':10}{note}" for note in figure.notes), sep="\n", flush=True)
    with ChildServices() as services:
        sent = await kill_while_counting(
            services, f"kills{os.getpid()}.", kills=KILLS, weeks=3, drafts=5_200, partitions=PARTITIONS
        )
        print(f"{KILLS} kills while {sent:,} events flowed: the cells are the batch's")
    return 0 if all(figure.met for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
