"""Brokers are killed, stopped, paused and started again under load: nothing is lost, nothing decided twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from schemas.topics import DRAFTS
from tests.faults.checker import Findings, most_common
from tests.faults.scene import Scene, load
from tests.services.kafka import RealKafka
from workers.runtime.connection import Connection
from workers.runtime.topic_admin import copies, topic_admin
from workers.runtime.topic_plan import plan, wanted

pytestmark = [pytest.mark.anyio, pytest.mark.real]

ITEMS = 200  # seven drafts each, published over about five seconds


@asynccontextmanager
async def under_load(kafka: RealKafka, prefix: str) -> AsyncIterator[Scene]:
    """A worker at work while drafts keep coming."""
    scene = Scene(kafka.bootstrap, prefix)
    publishing = None
    try:
        await scene.create_topics()
        scene.start()
        publishing = asyncio.create_task(scene.publish(load(ITEMS), per_s=250))
        await scene.until_answered(more=100)
        yield scene
        await publishing
    finally:
        if publishing is not None:
            publishing.cancel()
        scene.close()


async def after(kafka: RealKafka, prefix: str, fault: Callable[[], Awaitable[None]]) -> Findings:
    """What the checker finds once the fault is over and everything is answered; the worker has lived through it."""
    async with under_load(kafka, prefix) as scene:
        await fault()
        found = await scene.until_answered(more=50)
        while found.drafts < 7 * ITEMS:
            await asyncio.sleep(0.3)
            found = await scene.check()
        found = await scene.until_answered()
        assert [worker.poll() for worker in scene.running] == [None], scene.logs()
        assert scene.stop(scene.running[0]) == 0, scene.logs()
    return found


async def test_the_only_broker_is_killed_and_started_again(module_kafka: RealKafka) -> None:
    async def fault() -> None:
        module_kafka.kill()
        await asyncio.sleep(2)
        await asyncio.to_thread(module_kafka.start)

    found = await after(module_kafka, "killed.", fault)
    assert found.wrong == [], most_common(found)
    assert found.decisions == 3 * ITEMS


async def test_the_only_broker_is_stopped_in_order_and_started_again(module_kafka: RealKafka) -> None:
    async def fault() -> None:
        await asyncio.to_thread(module_kafka.stop)
        await asyncio.to_thread(module_kafka.start)

    found = await after(module_kafka, "stopped.", fault)
    assert found.wrong == [], most_common(found)
    assert found.decisions == 3 * ITEMS


async def test_the_only_broker_hangs_for_longer_than_the_session(module_kafka: RealKafka) -> None:
    async def fault() -> None:
        module_kafka.nodes[0].pause()
        await asyncio.sleep(5)
        module_kafka.nodes[0].resume()

    found = await after(module_kafka, "hung.", fault)
    assert found.wrong == [], most_common(found)
    assert found.decisions == 3 * ITEMS


async def test_three_brokers_keep_three_copies(three_kafkas: RealKafka) -> None:
    """Of the topic administration, but here: starting three brokers takes as long as a whole test."""
    topic = wanted(DRAFTS, "copies.")
    async with topic_admin(Connection(tuple(three_kafkas.bootstrap.split(",")))) as admin:
        replication = copies(None, brokers=await admin.brokers())
        await admin.apply(plan([topic], {}, replication=replication))
        found = (await admin.existing([topic.name]))[topic.name]
    assert (found.replication, found.own["min.insync.replicas"]) == (3, "2")


@pytest.mark.parametrize("node", [1, 3])
async def test_one_of_three_brokers_is_killed_and_the_work_goes_on_without_it(
    three_kafkas: RealKafka, node: int
) -> None:
    async def fault() -> None:
        three_kafkas.kill(node)

    found = await after(three_kafkas, f"without-{node}.", fault)
    three_kafkas.start(node)
    assert found.wrong == [], most_common(found)
    assert found.decisions == 3 * ITEMS
