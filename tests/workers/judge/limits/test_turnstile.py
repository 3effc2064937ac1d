from __future__ import annotations

import asyncio
import random

import pytest

from tests.workers.judge.asked import within
from workers.judge.limits.turnstile import Turnstile

pytestmark = pytest.mark.anyio


async def test_never_more_inside_than_the_limit_and_everybody_gets_in_in_order() -> None:
    turnstile, order, most = Turnstile(lambda: 3), [], 0

    async def visit(number: int) -> None:
        nonlocal most
        await turnstile.enter(deadline=within(5))
        order.append(number)
        most = max(most, turnstile.inside)
        await asyncio.sleep(0)
        turnstile.leave()

    await asyncio.gather(*(visit(number) for number in range(50)))
    assert (order, most, turnstile.inside) == (list(range(50)), 3, 0)


async def test_whoever_waits_in_vain_takes_no_place_with_him() -> None:
    turnstile = Turnstile(lambda: 1)
    await turnstile.enter(deadline=within(5))
    with pytest.raises(TimeoutError):
        await turnstile.enter(deadline=within(0.01))
    behind = asyncio.create_task(turnstile.enter(deadline=within(5)))
    await asyncio.sleep(0)
    turnstile.leave()
    await behind
    assert turnstile.inside == 1


async def test_a_limit_that_falls_drains_and_one_that_rises_lets_more_in() -> None:
    limit = 2
    turnstile = Turnstile(lambda: limit)
    for _ in range(2):
        await turnstile.enter(deadline=within(5))
    waiting = [asyncio.create_task(turnstile.enter(deadline=within(5))) for _ in range(3)]
    await asyncio.sleep(0)
    limit = 1
    turnstile.leave()
    await asyncio.sleep(0)
    assert not any(task.done() for task in waiting)
    limit = 5
    turnstile.leave()
    await asyncio.gather(*waiting)
    assert turnstile.inside == 3


async def test_no_place_is_lost_whenever_visitors_are_cancelled() -> None:
    rng, turnstile = random.Random(0), Turnstile(lambda: 4)

    async def visit() -> None:
        await turnstile.enter(deadline=within(5))
        try:
            await asyncio.sleep(rng.uniform(0, 0.002))
        finally:
            turnstile.leave()

    tasks = [asyncio.create_task(visit()) for _ in range(200)]
    while not all(task.done() for task in tasks):
        await asyncio.sleep(0.0005)
        rng.choice(tasks).cancel()
    assert turnstile.inside == 0
    for _ in range(4):
        await turnstile.enter(deadline=within(0.01))
