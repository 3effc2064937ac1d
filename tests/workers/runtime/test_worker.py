"""A worker from its start to its end: it serves, says how it is, drains, and refuses to start in one clear line."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import aiohttp
import orjson
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from prometheus_client import CollectorRegistry

from schemas.errors import DependencyUnavailable, FatalError, SettingsError
from schemas.revisions import RevisionRequest
from schemas.topics import DEAD_LETTERS, DRAFTS, REVISION_REQUESTS
from workers.runtime.handling import route
from workers.runtime.metrics import Metrics
from workers.runtime.settings import Settings
from workers.runtime.worker import Worker

pytestmark = pytest.mark.anyio

TOPICS = (DRAFTS, REVISION_REQUESTS, DEAD_LETTERS)


@pytest.fixture
def settings(services, unique):
    prefix = unique("worker") + "."
    for topic in TOPICS:
        services.create_topic(prefix + topic.name, 2)
    valid = Settings(kafka=services.kafka, topic_prefix=prefix, group_prefix=prefix)
    # A short session makes the embedded broker quick to hand partitions over.
    return valid.model_copy(update={"session_timeout_s": 2, "rebalance_timeout_s": 6, "drain_timeout_s": 2})


class Running:
    """A worker with one route, as a task."""

    def __init__(self, settings, handler, *, topics=()):
        metrics = Metrics(CollectorRegistry())
        routes = [route(DRAFTS, handler, settings, worker="judge", metrics=metrics, now=lambda: datetime.now(UTC))]
        self.worker = Worker("judge", settings, routes, metrics=metrics)
        self.stop, self.ready = asyncio.Event(), asyncio.Event()
        self.task = asyncio.create_task(self.worker.run(topics=topics, stop=self.stop, ready=self.ready.set))

    async def __aenter__(self):
        waiting = asyncio.create_task(self.ready.wait())
        await asyncio.wait([self.task, waiting], return_when=asyncio.FIRST_COMPLETED, timeout=10)
        waiting.cancel()
        return self

    async def __aexit__(self, *_):
        self.stop.set()
        await asyncio.gather(self.task, return_exceptions=True)

    async def ask(self, path):
        url = f"http://127.0.0.1:{self.worker.health_port}{path}"
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            return answer.status, await answer.text()


async def publish(settings, *values):
    async with AIOKafkaProducer(bootstrap_servers=settings.kafka) as producer:
        for number, value in enumerate(values):
            await producer.send_and_wait(f"{settings.topic_prefix}drafts", value, key=b"sku-%d" % (number % 5))


def draft(number):
    return orjson.dumps({"item_id": f"sku-{number % 5}", "text": f"text {number}", "context": {"instruction": "x"}})


async def read(settings, topic, count):
    async with AIOKafkaConsumer(
        settings.topic_prefix + topic, bootstrap_servers=settings.kafka, auto_offset_reset="earliest",
        fetch_max_wait_ms=10,
    ) as consumer:  # fmt: skip
        return [await asyncio.wait_for(consumer.getone(), 10) for _ in range(count)]


async def judge(message, origin):
    return [RevisionRequest.model_construct(event_id=f"r-{origin.event_id}", item_id=message.item_id)]


async def test_drafts_are_handled_and_poison_is_set_aside(settings):
    async with Running(settings, judge) as running:
        await publish(settings, *(draft(n) for n in range(8)), b"{poison", draft(9))
        assert len(await read(settings, "revision-requests", 9)) == 9
        (letter,) = await read(settings, "dead-letters", 1)
        assert letter.value == b"{poison"
        assert await running.ask("/livez") == (200, '{"ok": true, "reasons": []}')
        assert await running.ask("/readyz") == (200, '{"ok": true, "reasons": []}')
        _, metrics = await running.ask("/metrics")
        assert f'assay_records_done_total{{topic="{settings.topic_prefix}drafts"}} 10.0' in metrics
    assert running.task.exception() is None


async def test_it_says_that_it_is_killed_and_that_it_drains(settings):
    gate = asyncio.Event()

    async def slow(message, origin):
        await gate.wait()
        return []

    async with Running(settings, slow) as running:
        await publish(settings, draft(1))
        async with asyncio.timeout(10):
            while not running.worker.pumps[0].counts.admitted:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        running.worker.hold()
        assert await running.ask("/readyz") == (503, '{"ok": false, "reasons": ["killed"]}')
        running.worker.release()
        running.stop.set()
        await asyncio.sleep(0.05)
        assert await running.ask("/readyz") == (503, '{"ok": false, "reasons": ["draining"]}')
        assert (await running.ask("/livez"))[0] == 200
        gate.set()


async def test_two_lives_run_every_draft_once(settings):
    async def once(message, origin):
        seen.append(message.text)
        return []

    seen = []
    for life in range(2):
        async with Running(settings, once) as running:
            await publish(settings, *(draft(n) for n in range(life * 10, life * 10 + 10)))
            async with asyncio.timeout(10):
                while len(seen) < (life + 1) * 10:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
        assert running.task.exception() is None
    assert sorted(seen) == sorted(f"text {n}" for n in range(20))


async def test_it_can_be_stopped_while_it_joins(settings):
    async with Running(settings, judge):
        pass
    again = Running(settings, judge)  # the embedded broker keeps it waiting for a second
    await asyncio.sleep(0.3)
    assert not again.ready.is_set()
    assert '"no partitions assigned yet"' in (await again.ask("/readyz"))[1]
    again.stop.set()
    await asyncio.wait_for(again.task, 4)


async def test_five_percent_of_the_drafts_meet_a_bug_and_the_rest_is_judged(settings, monkeypatch):
    monkeypatch.setattr("workers.runtime.handling._BUG_PAUSES_S", (0.0, 0.0))

    async def buggy(message, origin):
        if int(message.text.removeprefix("text ")) % 20 == 7:
            raise LookupError(message.text)
        return await judge(message, origin)

    async with Running(settings, buggy):
        await publish(settings, *(draft(n) for n in range(100)))
        requests, letters = await read(settings, "revision-requests", 95), await read(settings, "dead-letters", 5)
    assert len({record.headers[1] for record in requests}) == 95
    assert {record.value for record in letters} == {draft(n) for n in range(7, 100, 20)}


async def test_what_is_fatal_ends_the_worker_with_its_reason(settings):
    async def broken(message, origin):
        raise FatalError("the judge is not what was certified")

    async with Running(settings, broken) as running:
        await publish(settings, draft(1))
        with pytest.raises(FatalError, match="not what was certified"):
            await asyncio.wait_for(running.task, 10)


async def test_a_missing_topic_a_missing_kafka_and_a_missing_setting_are_one_line_each(settings, services):
    async with Running(settings, judge, topics=["nowhere"]) as running:
        with pytest.raises(DependencyUnavailable, match="topic nowhere does not exist"):
            await running.task
    async with Running(settings.model_copy(update={"kafka": "127.0.0.1:9"}), judge) as running:
        with pytest.raises(DependencyUnavailable, match=r"no Kafka at 127\.0\.0\.1:9"):
            await running.task
    with pytest.raises(SettingsError, match="ASSAY_KAFKA is not set"):
        Worker("judge", Settings(), [], metrics=Metrics(CollectorRegistry()))
