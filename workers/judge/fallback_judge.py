"""Another vendor's judge, for while the first one cannot be asked."""

from __future__ import annotations

from collections.abc import Callable

from schemas.drafts import Draft
from schemas.verdict_space import Cause, Flag
from schemas.verdicts import CriterionVerdict, Usage
from workers.judge.protocols import Counters, Judge, RecallingJudge


class FallbackJudge:
    """Asks ``primary``; when its endpoint is ``broken`` or its budget is spent, ``fallback`` decides.

    Any other non-decision stands: a judge that answered, but unreadably, is not replaced by one that answers otherwise.
    The verdict names the judge that gave it and carries the flag ``fallback_judge``; its usage is that of both.
    """

    def __init__(self, primary: Judge, fallback: Judge, *, broken: Callable[[], bool], counters: Counters) -> None:
        self._primary, self._fallback, self._broken, self._counters = primary, fallback, broken, counters
        self._recalling = primary if isinstance(primary, RecallingJudge) else None

    @property
    def criterion_id(self) -> str:
        return self._primary.criterion_id

    async def judge(self, draft: Draft, *, deadline: float) -> CriterionVerdict:
        first = await self._primary.judge(draft, deadline=deadline)
        if not self._replaced(first.cause):
            return first
        self._counters.count("fallback_judgements", criterion=self.criterion_id, cause=str(first.cause))
        second = await self._fallback.judge(draft, deadline=deadline)
        over_budget = (Flag.OVER_BUDGET,) if first.cause is Cause.OVER_BUDGET else ()
        flags = dict.fromkeys((*second.flags, *over_budget, Flag.FALLBACK_JUDGE))
        return second.model_copy(update={"flags": tuple(flags), "usage": both(first.usage, second.usage)})

    def entry_of(self, draft: Draft) -> str | None:
        return self._recalling.entry_of(draft) if self._recalling is not None else None

    def recall(self, entry: bytes | None) -> CriterionVerdict | None:
        """What the primary decided: that is never replaced."""
        return self._recalling.recall(entry) if self._recalling is not None else None

    def _replaced(self, cause: Cause | None) -> bool:
        return cause is Cause.OVER_BUDGET or (cause is not None and cause.transient and self._broken())


def both(first: Usage, second: Usage) -> Usage:
    """One after the other: what is unknown of one is unknown of both."""
    return Usage(
        calls=first.calls + second.calls,
        input_tokens=_sum(first.input_tokens, second.input_tokens),
        output_tokens=_sum(first.output_tokens, second.output_tokens),
        cost_usd=None if first.cost_usd is None or second.cost_usd is None else first.cost_usd + second.cost_usd,
        latency_ms=first.latency_ms + second.latency_ms,
    )


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
