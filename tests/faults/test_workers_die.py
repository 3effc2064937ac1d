"""Workers are killed, stopped, joined and left with 200 drafts in flight: nothing is lost, nothing decided twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from tests.faults.checker import most_common
from tests.faults.scene import Scene, load

pytestmark = [pytest.mark.anyio, pytest.mark.real]

ITEMS = 250  # seven drafts each


@pytest.fixture
async def scene(real_kafka: str, unique: Callable[[str], str]) -> AsyncIterator[Scene]:
    scene = Scene(real_kafka, unique("faults") + ".")
    await scene.create_topics()
    yield scene
    scene.close()


async def test_kill_9_four_times(scene: Scene) -> None:
    await scene.publish(load(ITEMS))
    for _ in range(4):
        worker = scene.start()
        await scene.until_more_verdicts(100)
        assert await scene.in_flight() > 0, "nothing was in flight: this kill shows nothing"
        scene.kill(worker)
    scene.start()
    found = await scene.until_answered()
    assert found.wrong == [], most_common(found)
    assert found.decisions == 3 * ITEMS
    assert await scene.contradictions() == []
    # At most what was in flight at each kill, and what had finished since the last commit 100 ms before.
    assert found.repeated <= 4 * 300


async def test_sigterm_four_times_repeats_nothing(scene: Scene) -> None:
    await scene.publish(load(ITEMS))
    for _ in range(4):
        worker = scene.start()
        await scene.until_more_verdicts(100)
        assert await scene.in_flight() > 0, "nothing was in flight: this stop shows nothing"
        assert scene.stop(worker) == 0, scene.logs()
    scene.start()
    found = await scene.until_answered()
    assert found.wrong == [], most_common(found)
    # What a drain cuts short has produced nothing, and what it does not cut short is committed.
    assert (found.decisions, found.repeated) == (3 * ITEMS, 0), scene.logs()


async def test_workers_join_and_leave(scene: Scene) -> None:
    publishing = asyncio.create_task(scene.publish(load(ITEMS), per_s=120))
    first = scene.start()
    await scene.until_more_verdicts(100)
    second, third = scene.start(), scene.start()
    await scene.until_joined(3)
    await scene.until_more_verdicts(50)
    assert not publishing.done(), "nothing was left to do: this shows nothing"
    assert scene.stop(second) == 0, scene.logs()
    scene.kill(third)
    await publishing
    found = await scene.until_answered()
    assert scene.stop(first) == 0, scene.logs()
    assert found.wrong == [], most_common(found)
    assert found.decisions == 3 * ITEMS


async def test_a_handler_that_fails_for_some_records_stops_none_of_the_others(scene: Scene) -> None:
    published = await scene.publish(load(ITEMS // 2, words={20: "BUG-ONCE", 53: "BUG-ALWAYS"}))
    scene.start()
    found = await scene.until_answered()
    assert found.dead_letters == published // 53
    assert await scene.contradictions() == []
    # A round whose last attempt never passes the handler has no decision; the checker asks only for answered ones.
    assert found.wrong == [], most_common(found)
