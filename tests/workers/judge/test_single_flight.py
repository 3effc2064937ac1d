from __future__ import annotations

import asyncio

import pytest

from tests.workers.judge.asked import within
from workers.judge.single_flight import SingleFlight

pytestmark = pytest.mark.anyio


class Run:
    def __init__(self, *, takes_s: float = 0.005) -> None:
        self.started, self.cancelled, self.takes_s = 0, 0, takes_s

    async def __call__(self) -> str:
        self.started += 1
        try:
            await asyncio.sleep(self.takes_s)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return f"run {self.started}"


async def test_all_who_come_together_share_one_run_and_the_next_one_runs_again() -> None:
    flights: SingleFlight[str] = SingleFlight()
    run = Run()
    landed = await asyncio.gather(*(flights.run("k", run, deadline=within(5)) for _ in range(10)))
    assert landed == [("run 1", False)] + [("run 1", True)] * 9
    assert await flights.run("k", run, deadline=within(5)) == ("run 2", False)


async def test_other_keys_run_apart() -> None:
    flights: SingleFlight[str] = SingleFlight()
    run = Run()
    await asyncio.gather(*(flights.run(key, run, deadline=within(5)) for key in "abc"))
    assert run.started == 3


async def test_whoever_started_it_may_leave_and_the_others_still_get_the_result() -> None:
    flights: SingleFlight[str] = SingleFlight()
    run = Run()
    first = asyncio.create_task(flights.run("k", run, deadline=within(5)))
    await asyncio.sleep(0)
    second = asyncio.create_task(flights.run("k", run, deadline=within(5)))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == ("run 1", True)
    assert (run.started, run.cancelled) == (1, 0)


async def test_when_the_last_one_leaves_the_run_is_cancelled_and_nobody_joins_it() -> None:
    flights: SingleFlight[str] = SingleFlight()
    run = Run(takes_s=0.02)
    waiting = [asyncio.create_task(flights.run("k", run, deadline=within(5))) for _ in range(2)]
    await asyncio.sleep(0.001)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert await flights.run("k", run, deadline=within(5)) == ("run 2", False)
    assert (run.started, run.cancelled) == (2, 1)


async def test_a_waiter_leaves_at_its_own_deadline() -> None:
    flights: SingleFlight[str] = SingleFlight()
    run = Run(takes_s=0.05)
    first = asyncio.create_task(flights.run("k", run, deadline=within(5)))
    await asyncio.sleep(0)
    with pytest.raises(TimeoutError):
        await flights.run("k", run, deadline=within(0.005))
    assert await first == ("run 1", False)
