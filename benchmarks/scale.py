"""Many drafts through a real Kafka: does memory stay flat, is every draft decided once, how long does one take?

Publish to served: from the draft's timestamp, taken by its producer before the send, to the moment at which the broker
appended the served output to its log.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import numpy as np
from aiokafka import AIOKafkaConsumer, TopicPartition

from benchmarks.child import Seen
from benchmarks.figures import Figure, at_most
from benchmarks.ground import Child, Ground, Run, producer, records
from benchmarks.load import draft, rules_bom
from schemas.topics import DRAFTS, SERVED, TELEMETRY, VERDICTS, Topic
from workers.runtime.connection import connection
from workers.runtime.naming import Names
from workers.runtime.settings import Settings
from workers.runtime.topic_admin import topic_admin
from workers.runtime.topic_plan import Alter

EVERY = 20_000
BATCH = 25
TOLD_EVERY = 5_000
TICK_S = 0.5
"""Between two looks: what the measured process remembers of itself must not be what is measured."""

TARGET = 1.05
"""Resident memory at the end against that after the first 20,000 drafts."""


def scale(ground: Ground, *, drafts: int, per_s: int) -> list[Figure]:
    """``drafts`` at ``per_s``, judged by rules."""
    settings = ground.fresh(ground.bom(rules_bom))
    asyncio.run(_stamp_served(settings))
    with Child("judge", settings, records=drafts, tick_s=TICK_S) as child:
        asyncio.run(_publish(settings, drafts, per_s, child))
        run = child.result(longest_s=120.0 + drafts / per_s)
    _tell("all judged; reading the topics back")
    counts, taken_ms = asyncio.run(_read_back(settings))
    looks = list(_looks(run, drafts))
    whole = set(counts.values()) == {drafts} and len(taken_ms) == drafts
    rate, cpu_s = run.between(EVERY // 2, drafts)
    p50, p99 = np.percentile(taken_ms, [50, 99])
    return [
        at_most(
            "scale",
            f"{drafts:,} drafts at {per_s}/s: resident memory at the end",
            f"{looks[-1].rss_mib:,.1f} MiB",
            f"{looks[0].rss_mib:,.1f} MiB after {looks[0].done:,}",
            ratio=looks[-1].rss_mib / looks[0].rss_mib if whole else float("inf"),
            target=TARGET,
            notes=(
                "counts: " + ", ".join(f"{count:,} {name}" for name, count in counts.items()),
                f"publish to served: median {p50:,.0f} ms, p99 {p99:,.0f} ms; {rate:,.0f} drafts/s done",
                f"CPU a draft {1e6 * cpu_s:,.0f} us: {run.shares()}",
                "RSS: " + ", ".join(f"{look.rss_mib:.1f} MiB at {look.done:,}" for look in looks),
            ),
        )
    ]


def _looks(run: Run, drafts: int) -> Iterator[Seen]:
    for goal in range(min(EVERY, drafts), drafts + 1, EVERY):
        yield next(seen for seen in run.series if seen.done >= goal)


async def _stamp_served(settings: Settings) -> None:
    """Served outputs carry the time at which the broker has them."""
    served = Names(settings.topic_prefix).full(SERVED)
    async with topic_admin(connection(settings)) as admin:
        await admin.apply([Alter(served, (), {"message.timestamp.type": "LogAppendTime"})])


async def _publish(settings: Settings, drafts: int, per_s: int, judge: Child) -> None:
    began = time.monotonic()
    async with producer(settings) as to:
        for first in range(0, drafts, BATCH):
            numbers = range(first, min(first + BATCH, drafts))
            await to.produce(records(settings, [draft(number, salt="-scale") for number in numbers]))
            await asyncio.sleep(max(0.0, numbers.stop / per_s - (time.monotonic() - began)))
            if numbers.stop % TOLD_EVERY == 0:
                took_s = time.monotonic() - began
                _tell(f"{numbers.stop:,} published in {took_s:.0f} s; the judge has {judge.rss_mib:.1f} MiB")


def _tell(what: str) -> None:
    """Progress, for whoever watches a run of minutes."""
    print(f"scale: {what}", file=sys.stderr, flush=True)


async def _read_back(settings: Settings) -> tuple[dict[str, int], list[int]]:
    """Records by topic, decisions apart from attempts; and milliseconds from publish to served, one an item."""
    published = {item: at async for item, at, _ in _read(settings, DRAFTS)}
    served = [(item, at) async for item, at, _ in _read(settings, SERVED)]
    kinds = [value.startswith(b'{"type":"item_decision"') async for _, _, value in _read(settings, TELEMETRY)]
    counts = {
        "drafts": len(published),
        "verdicts": len([None async for _ in _read(settings, VERDICTS)]),
        "attempts": kinds.count(False),
        "decisions": kinds.count(True),
        "served": len(served),
    }
    return counts, [at - published[item] for item, at in dict(served).items()]


async def _read(settings: Settings, topic: Topic) -> AsyncIterator[tuple[bytes, int, bytes]]:
    """(key, timestamp in ms, value) of all records of a topic."""
    async with _consumer(settings) as consumer:
        name = Names(settings.topic_prefix).full(topic)
        partitions = [TopicPartition(name, number) for number in range(topic.partitions)]
        consumer.assign(partitions)
        await consumer.seek_to_beginning(*partitions)
        left = sum((await consumer.end_offsets(partitions)).values())
        while left:
            for batch in (await consumer.getmany(timeout_ms=500)).values():
                left -= len(batch)
                for record in batch:
                    yield record.key, record.timestamp, record.value


@asynccontextmanager
async def _consumer(settings: Settings) -> AsyncIterator[AIOKafkaConsumer]:
    consumer = AIOKafkaConsumer(**connection(settings).options(), auto_offset_reset="earliest")
    await consumer.start()
    try:
        yield consumer
    finally:
        await consumer.stop()
