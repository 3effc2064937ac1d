"""A model that is asked only when its most expensive answer can be paid."""

from __future__ import annotations

from schemas.bom import ModelBinding
from schemas.errors import ModelError
from schemas.verdict_space import Cause
from workers.judge.limits.purse import Purse
from workers.judge.limits.spending import most_nano_usd, nano_usd
from workers.judge.pricing import Price
from workers.judge.protocols import Model, Question, Reply

_FREE = frozenset({Cause.RATE_LIMITED, Cause.UNAUTHORIZED, Cause.BAD_REQUEST, Cause.UNREACHABLE})
"""No vendor charges for these. Any other failure may have been answered, and is charged at the most it can cost."""

_FREE_PRICE = Price(input_per_mtok=0, output_per_mtok=0)


class BudgetedModel:
    """Each ask is one call. ``price`` is None only where the caps are on calls alone."""

    def __init__(self, model: Model, purse: Purse, *, binding: ModelBinding, price: Price | None) -> None:
        self._model, self._purse, self._binding = model, purse, binding
        self._price = price or _FREE_PRICE

    async def ask(self, question: Question, *, deadline: float) -> Reply:
        most = most_nano_usd(
            self._price, prompt_bytes=_bytes_of(question), max_output_tokens=self._binding.max_output_tokens
        )
        held = await self._purse.reserve(most, deadline=deadline)
        cost: int | None = None
        called = True
        try:
            reply = await self._model.ask(question, deadline=deadline)
            cost = self._cost(reply)
        except ModelError as error:
            called = error.calls > 0
            cost = 0 if error.cause in _FREE or not called else None
            raise
        finally:
            held.settle(nano_usd=cost, called=called)
        return reply

    async def close(self) -> None:
        await self._model.close()

    def _cost(self, reply: Reply) -> int | None:
        if reply.input_tokens is None or reply.output_tokens is None:
            return None
        return nano_usd(self._price, input_tokens=reply.input_tokens, output_tokens=reply.output_tokens)


def _bytes_of(question: Question) -> int:
    return len(question.prompt.system.encode()) + len(question.prompt.user.encode()) + len(str(question.schema))
