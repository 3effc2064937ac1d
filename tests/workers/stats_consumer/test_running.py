"""Simulated weeks sent through the topics: the alerts that come out, an unreadable label, a Redis that forgot."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime

import pytest
from prometheus_client import CollectorRegistry
from pydantic import SecretStr
from redis.asyncio import Redis

from schemas.alerts import Alert, AlertState
from schemas.codec import decode
from schemas.dead_letter import DeadLetter
from schemas.errors import FatalError, SettingsError
from schemas.message import Message
from schemas.topics import ALERTS, DEAD_LETTERS, LABELS, TOPICS
from tests.workers.stats_consumer.said import in_week
from tests.workers.stats_consumer.simulated import DIAGNOSES, EXAMPLE, folded, week
from tests.workers.stats_consumer.test_worker_dies import counted, out, wait_until_counted
from workers.embedded.services import ChildServices
from workers.runtime.connection import connection
from workers.runtime.metrics import Metrics
from workers.runtime.naming import Names
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.reading import read_to_end
from workers.runtime.records import OutRecord
from workers.runtime.settings import Settings
from workers.stats_consumer.fold import Fold
from workers.stats_consumer.running import run_stats

NOW = in_week(3)


@pytest.fixture
def settings(services: ChildServices, unique: Callable[[str], str]) -> Settings:
    prefix = unique("run") + "."
    for topic in TOPICS:
        services.create_topic(prefix + topic.name, min(topic.partitions, 2))
    return Settings(
        kafka=services.kafka, redis=SecretStr(services.redis), topic_prefix=prefix, assess_every_s=0.2,
        label_wait_days=365, revision_ttl_s=31_622_400,
    )  # fmt: skip


@asynccontextmanager
async def counting(settings: Settings, *, now: datetime = NOW) -> AsyncIterator[Metrics]:
    """A stats worker of this process, stopped at the end of the block."""
    stop, ready, metrics = asyncio.Event(), asyncio.Event(), Metrics(CollectorRegistry())
    running = asyncio.create_task(
        run_stats(settings, EXAMPLE, metrics=metrics, stop=stop, now=lambda: now, ready=ready.set)
    )
    waiting = asyncio.create_task(ready.wait())
    await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    try:
        yield metrics
    finally:
        stop.set()
        await running


async def produce(settings: Settings, outs: Sequence[OutRecord]) -> None:
    producer = ConfirmedProducer(connection(settings), max_message_bytes=1_000_000)
    await producer.start()
    for at in range(0, len(outs), 500):
        await producer.produce(outs[at : at + 500])
    await producer.stop()


async def send(settings: Settings, said: Sequence[Message]) -> None:
    await produce(settings, [out(message, Names(settings.topic_prefix)) for message in said])


@asynccontextmanager
async def redis_of(settings: Settings) -> AsyncIterator[Redis]:
    assert settings.redis is not None
    redis = Redis.from_url(settings.redis.get_secret_value())
    try:
        yield redis
    finally:
        await redis.aclose()


async def alerts(settings: Settings) -> list[Alert]:
    topic = Names(settings.topic_prefix).full(ALERTS)
    records = [record async for record in read_to_end(connection(settings), [topic])]
    return [alert for r in records if isinstance(alert := decode(ALERTS, r.value).message, Alert)]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("change", "kind"),
    [({}, None), ({"fails_flipped": 0.3}, "lenient_judge"), ({"passes_flipped": 0.3}, "stricter_judge")],
)
async def test_simulated_weeks_through_the_topics_tell_what_changed(
    settings: Settings, change: dict[str, float], kind: str | None
) -> None:
    rng = random.Random(7)
    weeks = [week(n, rng, drafts=500, labelled=150, **(change if n == 2 else {})) for n in range(3)]  # type: ignore[arg-type]
    await send(settings, [m for messages in weeks for m in messages])
    async with redis_of(settings) as redis, counting(settings) as metrics:
        await wait_until_counted(redis, settings)
    told = {str(a.kind) for a in await alerts(settings) if a.state is AlertState.FIRING}
    assert told & DIAGNOSES == ({kind} if kind else set())
    firing = metrics.registry.get_sample_value("assay_alerts_firing")
    assert firing == len(told)


@pytest.mark.anyio
async def test_a_redis_that_forgot_is_filled_again_from_the_topics(settings: Settings) -> None:
    said = week(0, random.Random(7), drafts=100, labelled=30)
    await send(settings, said[:200])
    async with redis_of(settings) as redis:
        name = f"{settings.topic_prefix}stats"
        async with counting(settings):
            await wait_until_counted(redis, settings)
            await redis.delete(name)  # while it runs: written again from memory
            await send(settings, said[200:])
            rows = await wait_until_counted(redis, settings)
            assert Fold.restored(rows).cells == folded(said).cells
        await redis.delete(name)  # while it is down: counted again from the beginning
        async with counting(settings):
            rows = await wait_until_counted(redis, settings)
            assert Fold.restored(rows).cells == folded(said).cells


@pytest.mark.anyio
async def test_a_label_that_cannot_be_read_is_set_aside_and_the_next_one_counts(settings: Settings) -> None:
    names, said = Names(settings.topic_prefix), week(0, random.Random(7), drafts=20, labelled=10)
    await produce(settings, [OutRecord(names.full(LABELS), b"k", b'{"vote": "maybe"}')])
    await send(settings, said)
    async with redis_of(settings) as redis, counting(settings):
        rows = await wait_until_counted(redis, settings)
    letters = [r async for r in read_to_end(connection(settings), [names.full(DEAD_LETTERS)])]
    assert [DeadLetter.from_headers(r.headers).topic for r in letters] == [names.full(LABELS)]  # type: ignore[union-attr]
    assert letters[0].value == b'{"vote": "maybe"}'
    assert not Fold.restored(rows).units.by_task.keys() - folded(said).units.by_task.keys()


@pytest.mark.anyio
async def test_a_second_worker_waits_and_takes_over_when_the_first_has_gone(settings: Settings) -> None:
    said = week(0, random.Random(7), drafts=50, labelled=10)
    async with redis_of(settings) as redis:
        stop = asyncio.Event()
        async with counting(settings):
            second = asyncio.create_task(
                run_stats(settings, EXAMPLE, metrics=Metrics(CollectorRegistry()), stop=stop, now=lambda: NOW)
            )
            await send(settings, said[:60])
            await wait_until_counted(redis, settings)
            assert (await counted(redis, f"{settings.topic_prefix}stats"))["epoch"] == b"1"
        await send(settings, said[60:])
        rows = await wait_until_counted(redis, settings)
        assert rows["epoch"] == b"2"
        assert Fold.restored(rows).cells == folded(said).cells
        stop.set()
        await second


@pytest.mark.anyio
async def test_an_overtaken_worker_stops_loudly(settings: Settings) -> None:
    with pytest.raises(FatalError, match="taken over"):
        await overtake(settings)


async def overtake(settings: Settings) -> None:
    async with redis_of(settings) as redis, counting(settings):
        await redis.hincrby(f"{settings.topic_prefix}stats", "epoch", 1)
        await send(settings, week(0, random.Random(7), drafts=5, labelled=0))
        await asyncio.sleep(1)


@pytest.mark.anyio
async def test_without_redis_there_is_no_start(settings: Settings) -> None:
    bare = settings.model_copy(update={"redis": None})
    with pytest.raises(SettingsError, match="ASSAY_REDIS"):
        await run_stats(bare, EXAMPLE, metrics=Metrics(CollectorRegistry()), stop=asyncio.Event(), now=lambda: NOW)
