"""Asking in time, and again where the transport failed. A reply that came is never asked for again."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace

from schemas.errors import ModelError
from schemas.verdict_space import Cause
from workers.judge.protocols import Model, Question, Reply

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 8.0


class TimedModel:
    """Bounds every call: ``attempt_timeout_s``, or the time to the deadline where that is less.

    ``clock`` is the event loop's clock in seconds, which deadlines are moments of.
    """

    def __init__(self, model: Model, *, attempt_timeout_s: float, clock: Callable[[], float]) -> None:
        self._model, self._attempt_timeout_s, self._clock = model, attempt_timeout_s, clock

    async def ask(self, question: Question, *, deadline: float) -> Reply:
        until = min(deadline, self._clock() + self._attempt_timeout_s)
        remaining_s = until - self._clock()
        if remaining_s <= 0:
            raise ModelError(Cause.TIMEOUT, "the draft's deadline had passed", calls=0)
        try:
            async with asyncio.timeout(remaining_s):
                return await self._model.ask(question, deadline=until)
        except TimeoutError as error:
            raise ModelError(Cause.TIMEOUT, f"no reply within {remaining_s:.1f} s") from error

    async def close(self) -> None:
        await self._model.close()


class RetryingModel:
    """Repeats transient failures, at most ``max_attempts`` calls in all.

    A provider's Retry-After is honoured as long as it ends before the deadline; when it does not, asking stops at once.
    What failed without a call (a limit, a broken endpoint, a deadline that had passed) is not asked again.
    """

    def __init__(
        self,
        model: Model,
        *,
        max_attempts: int,
        rng: random.Random,
        clock: Callable[[], float],
        first_wait_s: float = FIRST_WAIT_S,
    ) -> None:
        self._model, self._max_attempts = model, max_attempts
        self._rng, self._clock, self._first_wait_s = rng, clock, first_wait_s

    async def ask(self, question: Question, *, deadline: float) -> Reply:
        calls, failed = 0, None
        while True:
            try:
                reply = await self._model.ask(question, deadline=deadline)
            except ModelError as error:
                calls += error.calls
                if not error.calls:
                    raise _told(failed, error, calls=calls) from error
                failed = error
                error.calls = calls
                wait_s = self._wait_s(error, deadline)
                if wait_s is None:
                    raise
                await asyncio.sleep(wait_s)
            else:
                return replace(reply, calls=calls + reply.calls) if calls else reply

    async def close(self) -> None:
        await self._model.close()

    def _wait_s(self, error: ModelError, deadline: float) -> float | None:
        if error.calls >= self._max_attempts:
            return None
        return wait_before_next(
            error, remaining_s=deadline - self._clock(), first_wait_s=self._first_wait_s, rng=self._rng
        )


def _told(failed: ModelError | None, withheld: ModelError, *, calls: int) -> ModelError:
    """What becomes of a question whose next call was not made: what the call before it failed of, if there was one.

    A spent budget is told in any case, since the fallback judge may still decide.
    """
    if failed is None or withheld.cause is Cause.OVER_BUDGET:
        return ModelError(withheld.cause, withheld.detail, calls=calls)
    return ModelError(failed.cause, failed.detail, retry_after_s=failed.retry_after_s, calls=calls)


def wait_before_next(
    error: ModelError, *, remaining_s: float, first_wait_s: float = FIRST_WAIT_S, rng: random.Random
) -> float | None:
    """Seconds to wait before the call after ``error.calls`` failed ones; None = do not ask again.

    Doubling from ``first_wait_s`` up to LONGEST_WAIT_S, half of it random, so that workers do not come back as one.
    """
    if not error.cause.transient:
        return None
    if error.retry_after_s is None:
        longest = min(first_wait_s * 2.0 ** max(error.calls - 1, 0), LONGEST_WAIT_S)
        wait_s = longest * rng.uniform(0.5, 1.0)
    else:
        wait_s = error.retry_after_s * rng.uniform(1.0, 1.1)
    return wait_s if wait_s < remaining_s else None
