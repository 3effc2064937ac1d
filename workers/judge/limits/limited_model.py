"""A model behind the limits of its endpoint: it waits for its turn, inside the deadline, and is asked no sooner."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from schemas.bom import ModelBinding
from schemas.errors import ModelError
from schemas.verdict_space import Cause
from workers.judge.limits.endpoint_limits import EndpointLimits
from workers.judge.protocols import Model, Question, Reply

_CHARS_A_TOKEN = 4


class LimitedModel:
    """Each ask is one call. Waiting is not part of an attempt's time; what cannot wait long enough raises at once,
    without a call (``calls`` 0).

    ``clock`` is the event loop's.
    """

    def __init__(
        self, model: Model, limits: EndpointLimits, *, binding: ModelBinding, clock: Callable[[], float]
    ) -> None:
        self._model, self._limits, self._binding, self._clock = model, limits, binding, clock

    async def ask(self, question: Question, *, deadline: float) -> Reply:
        if self._limits.breaker.blocks(self._clock()):
            raise self._limits.left_alone()
        await self._enter(deadline)
        try:
            return await self._inside(question, deadline)
        finally:
            self._limits.turnstile.leave()

    async def close(self) -> None:
        await self._model.close()

    async def _enter(self, deadline: float) -> None:
        came = self._clock()
        try:
            waited = await self._limits.turnstile.enter(deadline=deadline)
        except TimeoutError as error:
            self._limits.withheld("concurrency")
            raise ModelError(Cause.TIMEOUT, "no free call before the deadline", calls=0) from error
        if waited:
            self._limits.waited("concurrency", self._clock() - came)

    async def _inside(self, question: Question, deadline: float) -> Reply:
        estimate = _tokens_of(question) + self._binding.max_output_tokens
        used: float | None = None  # unknown: the estimate stands
        await self._take_turn(estimate, deadline)
        try:
            reply = await self._call(question, deadline)
            used = _sum(reply.input_tokens, reply.output_tokens)
        except ModelError as error:
            if not error.calls:
                self._limits.requests.owe(-1, self._clock())
            if not error.calls or error.cause is Cause.RATE_LIMITED:
                used = 0.0
            raise
        finally:
            if used is not None:
                self._limits.tokens.owe(used - estimate, self._clock())
        return reply

    async def _take_turn(self, estimate: int, deadline: float) -> None:
        limits, now = self._limits, self._clock()
        longest_s = deadline - now
        for_request = limits.requests.take(1, now, longest_s=longest_s)
        for_tokens = None if for_request is None else limits.tokens.take(estimate, now, longest_s=longest_s)
        if for_request is None or for_tokens is None:
            if for_request is not None:
                limits.requests.owe(-1, now)
            limits.withheld("rate")
            raise ModelError(Cause.RATE_LIMITED, "no turn before the deadline", calls=0)
        if (wait_s := max(for_request, for_tokens)) > 0:
            limits.waited("rate", wait_s)
            await asyncio.sleep(wait_s)

    async def _call(self, question: Question, deadline: float) -> Reply:
        limits, started = self._limits, self._clock()
        if not limits.breaker.allows(started):  # it may have opened while this one waited
            raise limits.left_alone()
        told = False
        try:
            reply = await self._model.ask(question, deadline=deadline)
            limits.answered(started=started, now=self._clock())
            told = True
        except ModelError as error:
            if error.calls:
                limits.failed(error, started=started, now=self._clock(), patience_s=self._binding.attempt_timeout_s)
                told = True
            raise
        finally:
            if not told:
                limits.breaker.abandoned()
        return reply


def _tokens_of(question: Question) -> int:
    """About what the prompt is in tokens; the reply's own count corrects it."""
    return (len(question.prompt.system) + len(question.prompt.user)) // _CHARS_A_TOKEN


def _sum(input_tokens: int | None, output_tokens: int | None) -> float | None:
    return None if input_tokens is None or output_tokens is None else float(input_tokens + output_tokens)
