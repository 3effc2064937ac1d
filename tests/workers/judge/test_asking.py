from __future__ import annotations

import asyncio
import random

import pytest

from schemas.errors import ModelError
from schemas.verdict_space import Cause
from tests.workers.judge.asked import question, within
from workers.judge.asking import LONGEST_WAIT_S, RetryingModel, TimedModel, wait_before_next
from workers.judge.protocols import Question, Reply

pytestmark = pytest.mark.anyio
TRANSIENT = [cause for cause in Cause if cause.transient]
LASTING = [cause for cause in Cause if not cause.transient]


class Failing:
    """Raises the given errors in turn, then answers; None hangs."""

    def __init__(self, *errors: ModelError | None) -> None:
        self.errors, self.calls = list(errors), 0

    async def ask(self, question: Question, *, deadline: float) -> Reply:
        self.calls += 1
        if not self.errors:
            return Reply("fine")
        error = self.errors.pop(0)
        if error is None:
            await asyncio.sleep(3600)
            raise AssertionError("nobody waits that long")
        raise error

    async def close(self) -> None:
        return None


def retrying(model: Failing, *, max_attempts: int = 3, attempt_timeout_s: float = 5.0) -> RetryingModel:
    clock = asyncio.get_running_loop().time
    return RetryingModel(
        TimedModel(model, attempt_timeout_s=attempt_timeout_s, clock=clock),
        max_attempts=max_attempts,
        rng=random.Random(0),
        clock=clock,
        first_wait_s=0.001,
    )


@pytest.mark.parametrize("cause", TRANSIENT)
async def test_a_transient_failure_is_asked_again_and_every_call_is_counted(cause: Cause) -> None:
    model = Failing(ModelError(cause), ModelError(cause))
    reply = await retrying(model).ask(question(), deadline=within(5))
    assert (reply.text, reply.calls, model.calls) == ("fine", 3, 3)


@pytest.mark.parametrize("cause", LASTING)
async def test_a_lasting_failure_is_not_asked_again(cause: Cause) -> None:
    model = Failing(ModelError(cause))
    with pytest.raises(ModelError) as caught:
        await retrying(model).ask(question(), deadline=within(5))
    assert (caught.value.cause, caught.value.calls, model.calls) == (cause, 1, 1)


@pytest.mark.parametrize("attempts", [1, 2, 3])
async def test_never_more_calls_than_attempts(attempts: int) -> None:
    model = Failing(*(ModelError(Cause.CONNECTION_LOST, retry_after_s=0.0) for _ in range(9)))
    with pytest.raises(ModelError) as caught:
        await retrying(model, max_attempts=attempts).ask(question(), deadline=within(5))
    assert (caught.value.calls, model.calls) == (attempts, attempts)


@pytest.mark.parametrize("withheld", [Cause.PROVIDER_ERROR, Cause.RATE_LIMITED, Cause.UNREACHABLE])
async def test_a_call_that_was_not_made_is_not_tried_again_and_hides_no_earlier_failure(withheld: Cause) -> None:
    model = Failing(ModelError(withheld, calls=0))
    with pytest.raises(ModelError) as caught:
        await retrying(model).ask(question(), deadline=within(5))
    assert (caught.value.cause, caught.value.calls, model.calls) == (withheld, 0, 1)
    model = Failing(ModelError(Cause.TIMEOUT), ModelError(withheld, calls=0))
    with pytest.raises(ModelError) as caught:
        await retrying(model).ask(question(), deadline=within(5))
    assert (caught.value.cause, caught.value.calls, model.calls) == (Cause.TIMEOUT, 1, 2)


async def test_a_budget_that_is_spent_between_two_tries_is_told() -> None:
    model = Failing(ModelError(Cause.PROVIDER_ERROR), ModelError(Cause.OVER_BUDGET, calls=0))
    with pytest.raises(ModelError) as caught:
        await retrying(model).ask(question(), deadline=within(5))
    assert (caught.value.cause, caught.value.calls) == (Cause.OVER_BUDGET, 1)


async def test_an_attempt_that_hangs_is_left_and_the_next_one_answers() -> None:
    reply = await retrying(Failing(None), attempt_timeout_s=0.01).ask(question(), deadline=within(5))
    assert reply.calls == 2


async def test_the_deadline_ends_everything() -> None:
    model = Failing(None, None, None)
    started = asyncio.get_running_loop().time()
    with pytest.raises(ModelError) as caught:
        await retrying(model).ask(question(), deadline=within(0.02))
    assert (caught.value.cause, caught.value.calls) == (Cause.TIMEOUT, 1)
    assert asyncio.get_running_loop().time() - started < 1.0


async def test_no_call_is_made_after_the_deadline() -> None:
    model = Failing()
    with pytest.raises(ModelError) as caught:
        await retrying(model).ask(question(), deadline=within(-1))
    assert (caught.value.cause, caught.value.calls, model.calls) == (Cause.TIMEOUT, 0, 0)


async def test_a_retry_after_beyond_the_deadline_stops_at_once() -> None:
    model = Failing(ModelError(Cause.RATE_LIMITED, retry_after_s=60.0))
    started = asyncio.get_running_loop().time()
    with pytest.raises(ModelError) as caught:
        await retrying(model).ask(question(), deadline=within(5))
    assert (caught.value.cause, model.calls) == (Cause.RATE_LIMITED, 1)
    assert asyncio.get_running_loop().time() - started < 1.0


async def test_cancelling_the_draft_cancels_the_call() -> None:
    model = Failing(None, None)
    task = asyncio.create_task(retrying(model).ask(question(), deadline=within(5)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert model.calls == 1


def test_waits_double_up_to_a_limit_and_half_of_each_is_random() -> None:
    rng = random.Random(1)
    for calls, longest in [(1, 0.5), (2, 1.0), (3, 2.0), (9, LONGEST_WAIT_S)]:
        error = ModelError(Cause.PROVIDER_ERROR, calls=calls)
        waits = [wait_before_next(error, remaining_s=100, rng=rng) or 0.0 for _ in range(200)]
        assert longest / 2 <= min(waits) < max(waits) <= longest


def test_retry_after_is_honoured_when_it_ends_before_the_deadline() -> None:
    error = ModelError(Cause.RATE_LIMITED, retry_after_s=7.0)
    wait_s = wait_before_next(error, remaining_s=30.0, rng=random.Random(1))
    assert wait_s is not None
    assert 7.0 <= wait_s <= 7.7
    assert wait_before_next(error, remaining_s=7.0, rng=random.Random(1)) is None
