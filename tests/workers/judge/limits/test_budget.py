from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from redis.asyncio import Redis

from schemas.bom import CostCaps
from schemas.errors import ModelError
from schemas.verdict_space import Cause
from tests.workers.judge.asked import binding, question, within
from tests.workers.judge.counted import Counted
from workers.judge.asking import RetryingModel
from workers.judge.cache import redis_client
from workers.judge.limits.budgeted_model import BudgetedModel
from workers.judge.limits.purse import Purse
from workers.judge.limits.shared_spending import SharedSpending
from workers.judge.limits.spending import NANO, charges_of, most_nano_usd, nano_usd
from workers.judge.pricing import Price
from workers.judge.protocols import Model, Question, Reply
from workers.judge.providers.scripted import ScriptedModel

pytestmark = pytest.mark.anyio

PRICE = Price(input_per_mtok=0.0, output_per_mtok=10_000.0)
"""A cent a token written, so that a call of at most 10 tokens costs at most 0.10 dollars."""


class Day:
    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, 12, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


class Vendor:
    """Answers after a moment with so many tokens, and adds up what it charges."""

    def __init__(self, *, tokens: int | None = 4, error: ModelError | None = None) -> None:
        self.calls, self.charged_usd, self._tokens, self._error = 0, 0.0, tokens, error

    async def __call__(self, _: Question) -> Reply:
        self.calls += 1
        await asyncio.sleep(0.001)
        if self._error is not None:
            raise ModelError(self._error.cause)
        self.charged_usd += (10 if self._tokens is None else self._tokens) * 0.01
        return Reply("fine", input_tokens=100, output_tokens=self._tokens)


def purse(day: Day, *, shared: SharedSpending | None = None, version: str = "v1", **caps: Any) -> Purse:
    return Purse(CostCaps(**caps), bom="shop", version=version, shared=shared, counters=Counted(), now=day)


def paid(vendor: Vendor, held: Purse) -> Model:
    return BudgetedModel(ScriptedModel(vendor), held, binding=binding(max_output_tokens=10), price=PRICE)


async def ask(model: Model, times: int, *, deadline_s: float = 5) -> list[Cause | None]:
    """The cause of each that abstained, None for each that answered; all at once."""

    async def one() -> Cause | None:
        try:
            await model.ask(question(), deadline=within(deadline_s))
        except ModelError as error:
            return error.cause
        return None

    return list(await asyncio.gather(*(one() for _ in range(times))))


def test_money_is_counted_in_whole_nano_dollars_rounded_up() -> None:
    # by hand: 7 x 0.15 $/M = 1,050 nano-dollars, 3 x 0.6 $/M = 1,800
    price = Price(input_per_mtok=0.15, output_per_mtok=0.6)
    assert nano_usd(price, input_tokens=7, output_tokens=3) == 2_850
    assert nano_usd(Price(input_per_mtok=0.0001, output_per_mtok=0), input_tokens=1, output_tokens=0) == 1


def test_the_most_a_call_can_cost_takes_every_byte_for_a_token() -> None:
    price = Price(input_per_mtok=1, output_per_mtok=2)
    assert most_nano_usd(price, prompt_bytes=1_000, max_output_tokens=100) == 1_000 * (1_500 + 200)


def test_hours_and_days_go_on_over_versions_and_the_rest_is_the_versions_own() -> None:
    caps = CostCaps(per_hour_usd=1, per_day_usd=2, per_bom_usd=3, max_calls=4)
    now = datetime(2026, 11, 30, 23, 59, tzinfo=UTC)
    charges = charges_of(caps, bom="shop", version="v1", nano_usd=7, now=now)
    assert [(c.meter, c.amount, c.cap) for c in charges] == [
        ("{shop}:hour:20261130T23", 7, NANO),
        ("{shop}:day:20261130", 7, 2 * NANO),
        ("{shop}:version:v1", 7, 3 * NANO),
        ("{shop}:calls:v1", 1, 4),
    ]


@pytest.mark.parametrize("cap", ["per_hour_usd", "per_day_usd", "per_bom_usd"])
async def test_two_hundred_at_once_never_overspend_and_use_the_budget_up(cap: str) -> None:
    vendor = Vendor()
    ended = await ask(paid(vendor, purse(Day(), **{cap: 1.0})), 200)
    assert vendor.charged_usd <= 1.0
    # The last call that can be paid leaves less than the most one call can cost.
    assert vendor.charged_usd > 1.0 - 0.10 - 1e-9
    assert ended.count(None) == vendor.calls
    assert set(ended) == {None, Cause.OVER_BUDGET}


@pytest.mark.parametrize("times", [3, 200])
async def test_max_calls_is_never_passed_by_one(times: int) -> None:
    vendor = Vendor()
    ended = await ask(paid(vendor, purse(Day(), max_calls=7)), times)
    assert (vendor.calls, ended.count(None)) == (min(times, 7), min(times, 7))


async def test_calls_that_are_repeated_count_each() -> None:
    vendor = Vendor(error=ModelError(Cause.PROVIDER_ERROR))
    model = RetryingModel(
        paid(vendor, purse(Day(), max_calls=5)),
        max_attempts=3, rng=random.Random(0), clock=asyncio.get_running_loop().time, first_wait_s=0.001,
    )  # fmt: skip
    ended = await ask(model, 20)
    assert vendor.calls == 5
    assert Cause.OVER_BUDGET in ended


async def test_usage_that_is_not_told_is_charged_at_the_most() -> None:
    vendor = Vendor(tokens=None)
    ended = await ask(paid(vendor, purse(Day(), per_hour_usd=1.0)), 50)
    assert (vendor.calls, ended.count(None)) == (10, 10)


@pytest.mark.parametrize(
    ("cause", "calls"),
    [
        (Cause.TIMEOUT, 10),
        (Cause.CONNECTION_LOST, 10),
        (Cause.PROVIDER_ERROR, 10),
        (Cause.RATE_LIMITED, 50),
        (Cause.UNREACHABLE, 50),
        (Cause.UNAUTHORIZED, 50),
        (Cause.BAD_REQUEST, 50),
    ],
)
async def test_a_failure_that_may_have_been_charged_is_and_one_that_cannot_is_not(cause: Cause, calls: int) -> None:
    vendor = Vendor(error=ModelError(cause))
    await ask(paid(vendor, purse(Day(), per_hour_usd=1.0)), 50)
    assert vendor.calls == calls


async def test_a_cancelled_call_stays_charged_and_makes_nobody_wait() -> None:
    day = Day()
    held = purse(day, per_hour_usd=0.15)
    slow = BudgetedModel(
        ScriptedModel(lambda _: asyncio.sleep(3600)), held, binding=binding(max_output_tokens=10), price=PRICE
    )
    task = asyncio.create_task(slow.ask(question(), deadline=within(5)))
    await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await ask(paid(Vendor(), held), 1) == [Cause.OVER_BUDGET]


async def test_the_next_hour_and_day_bring_new_money_and_the_version_does_not() -> None:
    day, vendor = Day(), Vendor(tokens=10)
    model = paid(vendor, purse(day, per_hour_usd=0.1, per_day_usd=0.3, per_bom_usd=0.4))
    calls = []
    for _ in range(6):
        await ask(model, 5)
        calls.append(vendor.calls)
        day.now += timedelta(hours=1)
    day.now += timedelta(days=1)
    await ask(model, 5)
    calls.append(vendor.calls)
    day.now += timedelta(days=1)
    await ask(model, 5)
    assert [*calls, vendor.calls] == [1, 2, 3, 3, 3, 3, 4, 4]


async def test_what_does_not_fit_in_time_is_over_budget_not_a_time_out() -> None:
    held = purse(Day(), per_hour_usd=0.1)
    slow = BudgetedModel(
        ScriptedModel(lambda _: asyncio.sleep(3600)), held, binding=binding(max_output_tokens=10), price=PRICE
    )
    task = asyncio.create_task(slow.ask(question(), deadline=within(5)))
    await asyncio.sleep(0.001)
    assert await ask(paid(Vendor(), held), 2, deadline_s=0.02) == [Cause.OVER_BUDGET] * 2
    task.cancel()
    await asyncio.wait([task])


def sharing(client: Redis, counters: Counted | None = None) -> SharedSpending:
    return SharedSpending(client, counters=counters or Counted(), clock=asyncio.get_running_loop().time)


async def test_workers_that_share_redis_keep_the_caps_together(redis: Redis) -> None:
    day, vendor = Day(), Vendor()
    workers = [paid(vendor, purse(day, shared=sharing(redis), per_day_usd=1.0, max_calls=1000)) for _ in range(4)]
    ended = await asyncio.gather(*(ask(worker, 50) for worker in workers))
    assert 0 < vendor.charged_usd <= 1.0
    assert {cause for one in ended for cause in one} == {None, Cause.OVER_BUDGET}
    # A worker that starts later knows what was spent; what was reserved and not used is back soon.
    await asyncio.sleep(0.1)
    before = vendor.calls
    late = paid(vendor, purse(day, shared=sharing(redis), per_day_usd=1.0))
    await ask(late, 50)
    assert 1.0 - 0.10 - 1e-9 < vendor.charged_usd <= 1.0
    assert vendor.calls >= before


async def test_max_calls_holds_over_all_workers(redis: Redis) -> None:
    vendor = Vendor()
    workers = [paid(vendor, purse(Day(), shared=sharing(redis), max_calls=11)) for _ in range(3)]
    await asyncio.gather(*(ask(worker, 30) for worker in workers))
    assert vendor.calls == 11


async def test_without_redis_each_worker_keeps_the_caps_alone_and_it_is_counted() -> None:
    counted = Counted()
    dead = redis_client("redis://127.0.0.1:9/0", repeats=False)
    vendor = Vendor()
    shared = sharing(dead, counted)
    await ask(paid(vendor, purse(Day(), shared=shared, max_calls=5)), 20)
    assert vendor.calls == 5
    assert sum(counted.counts.values()) >= 1
    await shared.close()


async def test_what_was_spent_while_redis_was_away_is_brought_in_when_it_is_back(redis: Redis) -> None:
    clock, vendor, day = [0.0], Vendor(tokens=10), Day()
    gone = redis_client("redis://127.0.0.1:9/0", repeats=False)
    shared = SharedSpending(gone, counters=Counted(), clock=lambda: clock[0])
    await ask(paid(vendor, purse(day, shared=shared, per_day_usd=1.0)), 3)
    shared._client = redis
    clock[0] = 100.0
    assert (
        await ask(paid(vendor, purse(day, shared=shared, per_day_usd=1.0)), 20) == [None] * 7 + [Cause.OVER_BUDGET] * 13
    )
    assert vendor.charged_usd == pytest.approx(1.0)
    await gone.aclose()
