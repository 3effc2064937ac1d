"""A minute of the chaos of ``benchmarks.chaos``, and that a minute of it holds every kind of fault."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.chaos import Kind, plan, run_chaos
from tests.services.kafka import RealKafka
from tests.services.redis import RealRedis


@pytest.mark.parametrize("seed", range(20))
def test_any_minute_holds_every_kind_of_fault_and_a_seed_says_which(seed: int) -> None:
    faults = list(plan(random.Random(seed), 60.0))
    assert {fault.kind for fault in faults} == set(Kind)
    assert faults == list(plan(random.Random(seed), 60.0)) != list(plan(random.Random(seed + 1), 60.0))


@pytest.mark.real
@pytest.mark.anyio
async def test_a_minute_of_chaos_loses_nothing_and_decides_nothing_twice(
    own_kafka: RealKafka, own_redis: RealRedis, tmp_path: Path
) -> None:
    run = await run_chaos(own_kafka, own_redis, tmp_path, seed=1, duration_s=60.0)
    assert run.wrong == []
    assert set(run.faults) == set(Kind)
    assert run.found.answered == run.found.drafts > 1_500
