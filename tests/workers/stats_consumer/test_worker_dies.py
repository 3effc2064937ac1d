"""kill -9 of the stats worker while events flow: its counts are those of a batch, to the last integer."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
from redis.asyncio import Redis

from schemas.codec import decode, encode
from schemas.headers import NO_TRACE, headers_for
from schemas.message import Message
from schemas.reports import MetricReport
from schemas.topics import METRICS, TOPICS
from tests.workers.stats_consumer.said import canary
from tests.workers.stats_consumer.simulated import folded, week
from workers.embedded.services import ChildServices
from workers.runtime.connection import connection
from workers.runtime.naming import Names
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.reading import partitions_of, read_to_end
from workers.runtime.records import OutRecord
from workers.runtime.settings import Settings
from workers.stats_consumer.fold import Fold
from workers.stats_consumer.worker import READS

PARTITIONS = 3


@contextmanager
def stats_process(environ: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen(
        [sys.executable, "-m", "workers.cli.main", "run", "stats"], env={**os.environ, **environ},
        stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def out(message: Message, names: Names) -> OutRecord:
    id_ = getattr(message, "event_id", "label")
    headers = headers_for(message, event_id=id_, source="/t", at=datetime.now(UTC), trace=NO_TRACE)
    return OutRecord(names.of(message), message.key().encode(), encode(message), headers)


async def counted(redis: Redis, name: str) -> dict[str, bytes]:
    return {key.decode(): row async for key, row in redis.hscan_iter(name, count=5_000)}


async def wait_until_counted(redis: Redis, settings: Settings, *, deadline_s: float = 60.0) -> dict[str, bytes]:
    names = Names(settings.topic_prefix)
    topics = [names.full(topic) for topic in READS]
    ends: dict[str, int] = {}
    for topic in topics:
        async for record in read_to_end(connection(settings), [topic]):
            ends[f"o|{topic}|{record.partition}"] = record.offset + 1
    async with asyncio.timeout(deadline_s):
        while True:
            name = f"{settings.topic_prefix}stats"
            reached = await redis.hmget(name, list(ends))
            if all(int(offset or 0) >= end for offset, end in zip(reached, ends.values(), strict=True)):
                return await counted(redis, name)
            await asyncio.sleep(0.1)


@pytest.mark.anyio
async def test_three_kills_while_five_thousand_events_flow_change_nothing(
    services: ChildServices, unique: Callable[[str], str]
) -> None:
    await kill_while_counting(services, unique("kill") + ".", kills=3, weeks=3, drafts=500)


async def kill_while_counting(
    services: ChildServices, prefix: str, *, kills: int, weeks: int, drafts: int, partitions: int = PARTITIONS
) -> int:
    """How many events flowed. The embedded broker keeps 5 MiB a partition: ``partitions`` must be enough for all."""
    rng = random.Random(5)
    said = [m for n in range(weeks) for m in week(n, rng, drafts=drafts, labelled=drafts // 5)] + [canary(2)]
    sent = [m for message in said for m in ([message, message] if rng.random() < 0.1 else [message])]
    environ = {
        "ASSAY_KAFKA": services.kafka, "ASSAY_REDIS": services.redis, "ASSAY_TOPIC_PREFIX": prefix,
        "ASSAY_LABEL_WAIT_DAYS": "365", "ASSAY_REVISION_TTL_S": "31622400", "ASSAY_ASSESS_EVERY_S": "0.5",
    }  # fmt: skip
    settings = Settings(kafka=services.kafka, topic_prefix=prefix)
    for topic in TOPICS:
        services.create_topic(prefix + topic.name, min(topic.partitions, partitions))
    producer = ConfirmedProducer(connection(settings), max_message_bytes=1_000_000)
    await producer.start()
    redis = Redis.from_url(services.redis)
    try:
        await produce_under_kills(producer, sent, Names(prefix), environ, kills, rng)
        with stats_process(environ) as last:
            rows = await wait_until_counted(redis, settings)
            assert Fold.restored(rows).cells == folded(said).cells
            last.send_signal(signal.SIGTERM)
            assert last.wait(30) == 0
        await check_reports(settings)
    finally:
        await producer.stop()
        await redis.aclose()
    return len(sent)


async def produce_under_kills(
    producer: ConfirmedProducer, sent: Sequence[Message], names: Names, environ: Mapping[str, str], kills: int,
    rng: random.Random,
) -> None:  # fmt: skip
    """A part of the events for each life of the worker, which ends at a random moment within it."""
    size = len(sent) // kills + 1
    for number in range(kills):
        part = sent[number * size : (number + 1) * size]
        with stats_process(environ):
            await asyncio.sleep(1.5 + rng.random())  # about as long as it takes to start
            for at in range(0, len(part), 200):
                await producer.produce([out(message, names) for message in part[at : at + 200]])
                await asyncio.sleep(0.02)
            await asyncio.sleep(rng.random())


async def check_reports(settings: Settings) -> None:
    """A revision is said once, or again in the same words."""
    kafka, names = connection(settings), Names(settings.topic_prefix)
    assert len(await partitions_of(kafka, [names.full(METRICS)])) == 1
    said: dict[tuple[str, int], MetricReport] = {}
    async for record in read_to_end(kafka, [names.full(METRICS)]):
        report = decode(METRICS, record.value).message
        assert isinstance(report, MetricReport)
        assert said.setdefault((report.key(), report.revision), report) == report
    assert {report.window for report in said.values()} == {"2026-W37", "2026-W38", "2026-W39"}
