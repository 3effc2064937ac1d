"""One run beside the certificate: flips, thresholds, injections; and several runs together."""

from __future__ import annotations

import random

import pytest

from schemas.canary import CanaryRun, CanaryVerdict
from schemas.verdict_space import Cause, Label
from stats.canary import canary_power, canary_threshold
from stats.unavailable import Unavailable
from tests.workers.canary.specimens import NOW, FlippingJudge, certificate, items
from workers.canary.comparing import accumulated, canary_run, finding
from workers.canary.judging import judge_set

pytestmark = pytest.mark.anyio


async def run_of(judge: FlippingJudge, n: int = 150, *, injections: int = 0, cause: str = "test") -> CanaryRun:
    today = await judge_set(items(n, injections=injections), judge, at_once=8)
    return canary_run(certificate(n, flip_rate=0.02), today, cause=cause, started=NOW, ended=NOW)


@pytest.mark.parametrize(("rate", "stated"), [(0.06, 0.55), (0.10, 0.97)])  # S2 7.6 item 9
async def test_a_raised_flip_rate_is_caught_as_often_as_the_power_formula_says(rate: float, stated: float):
    judge = FlippingJudge(rate, random.Random(6))
    caught = 0
    for _ in range(500):
        caught += finding(await run_of(judge)).alarm
    assert abs(caught / 500 - canary_power(150, 9, rate)) < 0.07
    assert canary_power(150, 9, rate) == pytest.approx(stated, abs=0.005)


async def test_an_unchanged_judge_alarms_in_at_most_one_run_of_a_hundred():
    judge = FlippingJudge(0.02, random.Random(2))
    alarms = 0
    for _ in range(500):
        alarms += finding(await run_of(judge)).alarm
    assert alarms <= 9  # P(X >= 9) = 0.34 % (statistics of S2's example): 500 runs give 1.7


async def test_threshold_and_power_are_the_seeds():
    found = finding(await run_of(FlippingJudge(0.0, random.Random(0))))
    assert (found.threshold, found.power_rate) == (9, 0.06)
    assert found.power == pytest.approx(0.55, abs=0.005)


async def test_one_flipped_injection_case_alarms_and_is_counted_apart():
    found = finding(await run_of(FlippingJudge(1.0, random.Random(0)), 10, injections=1))
    assert len(found.injection_flips) == 1
    assert (found.compared, found.flips) == (9, 9)
    quiet = finding(await run_of(FlippingJudge(0.0, random.Random(0)), 10, injections=1))
    assert not quiet.alarm


async def test_an_outage_is_no_flip_and_leaves_nothing_to_compare():
    run = await run_of(FlippingJudge(0.0, random.Random(0), cause=Cause.TIMEOUT))
    found = finding(run)
    assert (found.flips, found.compared, found.not_decided, found.alarm) == (0, 0, 150, False)
    assert isinstance(found.threshold, Unavailable)
    assert run.threshold_reason == "no item was re-judged"


async def test_several_runs_count_distinct_items_so_that_one_stubborn_flip_is_not_seven():
    week = [await run_of(FlippingJudge(0.0, random.Random(0)), cause=f"day {day}") for day in range(7)]
    same = [day.model_copy(update={"verdicts": (_flipped(day, 0), *day.verdicts[1:])}) for day in week]
    together = accumulated(same)
    assert not isinstance(together, Unavailable)
    assert (together.flipped, together.alarm) == (1, False)
    assert together.threshold == canary_threshold(150, 1 - 0.98**7)


def _flipped(run: CanaryRun, k: int) -> CanaryVerdict:
    return run.verdicts[k].model_copy(update={"label": Label.FAIL})


async def test_small_drift_that_one_day_misses_is_seen_over_a_week():
    rng = random.Random(5)
    week = [await run_of(FlippingJudge(0.06, rng), cause=f"day {day}") for day in range(7)]
    together = accumulated(week)
    assert not isinstance(together, Unavailable)
    assert together.alarm


async def test_the_same_cause_gives_the_same_id_and_another_certificate_another():
    judge = FlippingJudge(0.0, random.Random(0))
    a, b = await run_of(judge, cause="2026-12-01"), await run_of(judge, cause="2026-12-01")
    assert a.event_id == b.event_id
    assert (await run_of(judge, cause="2026-12-02")).event_id != a.event_id
    assert (await run_of(judge, 149, cause="2026-12-01")).event_id != a.event_id


def test_no_run_at_all_is_unavailable():
    assert isinstance(accumulated([]), Unavailable)
