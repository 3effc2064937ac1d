"""The broker refuses what a worker produces: records above a topic's limit, or any record, its disk being full."""

from __future__ import annotations

import asyncio
import resource
import subprocess
from collections.abc import AsyncIterator, Callable

import pytest

from schemas.topics import VERDICTS
from tests.faults.checker import most_common
from tests.faults.scene import JUDGE, Scene, load
from tests.services.kafka import RealKafka
from workers.bom.example import example_bom
from workers.runtime.connection import Connection
from workers.runtime.topic_admin import topic_admin
from workers.runtime.topic_plan import Alter

pytestmark = [pytest.mark.anyio, pytest.mark.real]

ITEMS = 60
USAGE, STOPPED_ITSELF = 2, 5


@pytest.fixture
async def scene_on(unique: Callable[[str], str]) -> AsyncIterator[Callable[[str], Scene]]:
    scenes: list[Scene] = []

    def make(kafka: str) -> Scene:
        scenes.append(Scene(kafka, unique("refused") + ".", ASSAY_BOM=str(example_bom()), ASSAY_PRODUCE_TIMEOUT_S="3"))
        return scenes[-1]

    yield make
    for scene in scenes:
        scene.close()


async def take_at_most(scene: Scene, bytes_: int) -> None:
    """A verdict has well over a thousand bytes."""
    topic = scene.prefix + VERDICTS.name
    async with topic_admin(Connection((scene.kafka,))) as admin:
        await admin.apply([Alter(topic, (), {"max.message.bytes": str(bytes_)})])


async def ended(worker: subprocess.Popen[bytes]) -> int:
    return await asyncio.to_thread(worker.wait, 30.0)


def last_words(scene: Scene) -> str:
    """The one line for a person, after the log lines."""
    return scene.logs().splitlines()[-1]


async def test_a_topic_made_smaller_stops_the_worker_and_loses_nothing(
    real_kafka: str, scene_on: Callable[[str], Scene]
) -> None:
    scene = scene_on(real_kafka)
    await scene.create_topics()
    publishing = asyncio.create_task(scene.publish(load(ITEMS), per_s=150))
    worker = scene.start(JUDGE)
    await scene.until_more_verdicts(20)
    await take_at_most(scene, 500)
    assert await ended(worker) == STOPPED_ITSELF, scene.logs()
    assert "Kafka refuses records of" in last_words(scene)
    assert "raise the topic's max.message.bytes" in last_words(scene)
    assert await ended(scene.start(JUDGE)) == USAGE, scene.logs()
    assert "takes at most 500 of the 1048576 bytes needed: `assay topics create` mends" in last_words(scene)
    await take_at_most(scene, 1_048_576)
    scene.start(JUDGE)
    await publishing
    found = await scene.until_answered()
    assert found.wrong == [], most_common(found)
    assert (found.verdicts, found.decisions) == (7 * ITEMS, 3 * ITEMS)


async def test_a_full_disk_stops_the_worker_and_loses_nothing(
    own_kafka: RealKafka, scene_on: Callable[[str], Scene]
) -> None:
    scene = scene_on(own_kafka.bootstrap)
    await scene.create_topics()
    await scene.publish(load(2 * ITEMS))
    worker = scene.start(JUDGE)
    await scene.until_more_verdicts(20)
    # To a process that may not make its files longer the disk is full: its writes fail.
    resource.prlimit(own_kafka.nodes[0].pid, resource.RLIMIT_FSIZE, (30_000, resource.RLIM_INFINITY))
    assert await ended(worker) == STOPPED_ITSELF, scene.logs()
    assert last_words(scene) == "assay: Kafka confirmed nothing for 3 s: is it up, and has its disk room?"
    own_kafka.kill()
    own_kafka.start()
    scene.start(JUDGE)
    found = await scene.until_answered()
    assert found.wrong == [], most_common(found)
    assert (found.verdicts, found.decisions) == (2 * 7 * ITEMS, 2 * 3 * ITEMS)
