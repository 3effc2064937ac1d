"""The canary on a broker: one run a day on the topic, and none for a BOM it was not certified for."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from schemas.canary import CanaryRun
from schemas.errors import BomError
from schemas.topics import CANARY
from tests.workers.canary.specimens import BOM_FOLDER
from workers.bom import load_bom, read_files, seal
from workers.canary.certificate import certificate_of
from workers.canary.comparing import finding
from workers.canary.records import runs_on_record
from workers.embedded.services import ChildServices
from workers.roles import ROLES, run_role
from workers.runtime.connection import connection
from workers.runtime.metrics import Metrics
from workers.runtime.naming import Names
from workers.runtime.settings import Settings

pytestmark = pytest.mark.anyio


def value_of(registry: CollectorRegistry, name: str, run: CanaryRun) -> float | None:
    return registry.get_sample_value(name, {"bom_version": run.bom_version})


async def runs_after_a_start(settings: Settings) -> int:
    """Start the role, give it time for a run, stop it; how many runs are on the topic."""
    stop = asyncio.Event()
    registry = CollectorRegistry()
    work = asyncio.create_task(run_role(ROLES["canary"], settings, metrics=Metrics(registry), stop=stop))
    certificate = certificate_of(load_bom(read_files(settings.bom)))
    runs = []
    for _ in range(100):
        await asyncio.sleep(0.05)
        if runs := await runs_on_record(connection(settings), Names(settings.topic_prefix), certificate):
            break
    await asyncio.sleep(0.1)
    stop.set()
    await work
    shown = {name: value_of(registry, f"assay_canary_{name}", runs[-1]) for name in ("flips", "threshold", "alarm")}
    assert shown == {"flips": 0, "threshold": runs[-1].threshold, "alarm": 0}
    assert value_of(registry, "assay_canary_run_timestamp_seconds", runs[-1]) == runs[-1].ended_at.timestamp()
    assert all(finding(run).alarm is False and finding(run).compared == 90 for run in runs)
    return len(await runs_on_record(connection(settings), Names(settings.topic_prefix), certificate))


async def test_a_start_runs_once_and_a_restart_on_the_same_day_does_not(
    services: ChildServices, unique: Callable[[str], str]
):
    prefix = unique("canary") + "."
    services.create_topic(prefix + CANARY.name, 1)
    settings = Settings(kafka=services.kafka, bom=BOM_FOLDER, topic_prefix=prefix, canary_interval_h=720)
    assert await runs_after_a_start(settings) == 1
    assert await runs_after_a_start(settings) == 1


async def test_a_bom_that_was_sealed_anew_stops_it_before_anything_is_judged(services: ChildServices, tmp_path: Path):
    folder = tmp_path / "bom"
    shutil.copytree(BOM_FOLDER, folder)
    (folder / "fallback.md").write_text("{name}: see the sheet.\n", encoding="utf-8")
    seal(folder, read_files(folder))
    with pytest.raises(BomError, match="assay canary certify"):
        await run_role(
            ROLES["canary"], Settings(kafka=services.kafka, bom=folder), metrics=Metrics(CollectorRegistry()),
            stop=asyncio.Event(),
        )  # fmt: skip
