"""Redis goes away and comes back; the model hangs, refuses, breaks off, answers late: every draft gets its decision."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.faults.checker import Findings, most_common, read
from tests.faults.faulty_model import FaultyModel, http_bom
from tests.faults.scene import JUDGE, Scene, load
from tests.services.redis import RealRedis
from workers.bom.example import example_bom

pytestmark = [pytest.mark.anyio, pytest.mark.real]

ITEMS = 60


@pytest.fixture
async def scene_of(real_kafka: str, unique: Callable[[str], str]) -> AsyncIterator[Callable[..., Any]]:
    scenes: list[Scene] = []

    async def make(**settings: str) -> Scene:
        scenes.append(Scene(real_kafka, unique("dependencies") + ".", **settings))
        await scenes[-1].create_topics()
        return scenes[-1]

    yield make
    for scene in scenes:
        scene.close()


async def causes(scene: Scene) -> set[str]:
    """Causes of the non-decisions on the verdicts topic."""
    rows = [json.loads(raw.value or b"") for raw in await read(scene.kafka, scene.prefix + "verdicts")]
    return {verdict["cause"] for row in rows for verdict in row["verdicts"] if verdict["cause"]}


async def test_redis_is_killed_and_started_again(own_redis: RealRedis, scene_of: Callable[..., Any]) -> None:
    scene = await scene_of(ASSAY_REDIS=own_redis.url, ASSAY_BOM=str(example_bom()), ASSAY_CONCURRENCY="20")
    publishing = asyncio.create_task(scene.publish(load(ITEMS), per_s=60))
    worker = scene.start(JUDGE)
    await scene.until_answered(more=50)
    own_redis.kill()
    await scene.until_answered(more=100)
    own_redis.start()
    await publishing
    found = await scene.until_answered()
    assert worker.poll() is None, scene.logs()
    assert scene.stop(worker) == 0, scene.logs()
    assert found.wrong == [], most_common(found)
    assert (found.verdicts, found.decisions) == (7 * ITEMS, 3 * ITEMS)
    assert await causes(scene) == set()


@pytest.mark.parametrize(
    ("mode", "cause"), [("hang", "timeout"), ("refuse", "provider_error"), ("break", "connection_lost"), ("late", None)]
)
async def test_a_model_in_trouble_delays_drafts_and_loses_none(
    tmp_path: Path, scene_of: Callable[..., Any], mode: str, cause: str | None
) -> None:
    async with FaultyModel() as model:
        scene = await scene_of(
            ASSAY_BOM=str(http_bom(tmp_path / "bom")), ASSAY_MODEL_BASE_URL=f"http://127.0.0.1:{model.port}/v1",
            ASSAY_CONCURRENCY="40",
        )  # fmt: skip
        publishing = asyncio.create_task(scene.publish(load(ITEMS // 2), per_s=60))
        worker = scene.start(JUDGE)
        await scene.until_answered(more=30, timeout_s=20)
        model.mode = mode
        await scene.until_answered(more=40, timeout_s=20)
        model.mode = "ok"
        await publishing
        found: Findings = await scene.until_answered()
        assert scene.stop(worker) == 0, scene.logs()
    assert found.wrong == [], most_common(found)
    assert found.verdicts == 7 * (ITEMS // 2)
    assert model.calls > 0
    said = await causes(scene)
    # An endpoint that keeps failing is left alone for a while: what was not asked then is a provider_error.
    assert said - {"provider_error"} == {cause} - {"provider_error", None}
    assert bool(said) == bool(cause)


@pytest.mark.parametrize("remembers", [True, False], ids=["with Redis", "without"])
async def test_a_draft_judged_before_a_crash_is_told_the_same_after_it(
    tmp_path: Path, own_redis: RealRedis, scene_of: Callable[..., Any], remembers: bool
) -> None:
    async with FaultyModel() as model:
        scene = await scene_of(
            ASSAY_BOM=str(http_bom(tmp_path / "bom")), ASSAY_MODEL_BASE_URL=f"http://127.0.0.1:{model.port}/v1",
            ASSAY_REDIS=own_redis.url if remembers else "", ASSAY_COMMIT_INTERVAL_S="60",
        )  # fmt: skip
        model.mode = "refuse"
        await scene.publish(islice(load(ITEMS), ITEMS))
        worker = scene.start(JUDGE)
        await scene.until_answered()
        scene.kill(worker)
        model.mode = "ok"
        again = scene.start(JUDGE)
        await scene.until_more_verdicts(ITEMS)
        assert scene.stop(again) == 0, scene.logs()
    found = await scene.check()
    assert found.repeated == ITEMS
    if remembers:
        assert found.wrong == [], most_common(found)
    else:  # said under one event id: the first one counts
        assert {changed.kind for changed in found.changed} == {"verdict", "decision"}
        assert found.wrong == list(map(str, found.changed))
