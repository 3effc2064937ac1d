"""A minute of the chaos of ``benchmarks.chaos``, and that a minute of it holds every kind of fault."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.chaos import Kind, Outage, Result, plan, run_chaos
from tests.faults.checker import Changed, Findings
from tests.services.kafka import RealKafka
from tests.services.redis import RealRedis


@pytest.mark.parametrize("seed", range(20))
def test_any_minute_holds_every_kind_of_fault_and_a_seed_says_which(seed: int) -> None:
    faults = list(plan(random.Random(seed), 60.0))
    assert {fault.kind for fault in faults} == set(Kind)
    assert faults == list(plan(random.Random(seed), 60.0)) != list(plan(random.Random(seed + 1), 60.0))


def at(second: int) -> datetime:
    return datetime(2026, 11, 30, 12, 0, second, tzinfo=UTC)


@pytest.mark.parametrize(
    ("changed", "excused"),
    [
        (
            [Changed("verdict", "v", "r", at(10), at(20), False), Changed("decision", "d", "r", at(10), at(20), False)],
            2,
        ),
        ([Changed("verdict", "v", "r", at(20), at(10), False)], 1),
        (
            [Changed("verdict", "v", "r", at(30), at(40), False), Changed("decision", "d", "s", at(10), at(20), False)],
            1,
        ),
        ([Changed("verdict", "v", "r", at(30), at(40), True), Changed("decision", "d", "r", at(30), at(40), False)], 2),
    ],
)
def test_what_was_said_otherwise_is_excused_by_a_lost_redis_in_between_or_by_the_records(
    changed: list[Changed], excused: int
) -> None:
    found = Findings(changed=changed, wrong=[*map(str, changed), "lost: draft (0, 1)"])
    run = Result(Counter(), Counter({0: 2, -9: 1, 1: 1}), found, (Outage(at(14), at(15)),))
    assert len(run.forgotten) == excused
    blamed = [str(one) for one in changed if one not in run.forgotten]
    assert run.wrong == [*blamed, "lost: draft (0, 1)", "exit code 1 x1"]


@pytest.mark.real
@pytest.mark.anyio
async def test_a_minute_of_chaos_loses_nothing_and_decides_nothing_twice(
    own_kafka: RealKafka, own_redis: RealRedis, tmp_path: Path
) -> None:
    run = await run_chaos(own_kafka, own_redis, tmp_path, seed=1, duration_s=60.0)
    assert run.wrong == []
    assert set(run.faults) == set(Kind)
    assert run.found.answered == run.found.drafts > 1_500
