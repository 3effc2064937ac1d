"""A cheap judge for the clear cases, a better one for the rest (S2 7.10): validated as the one judge that it is."""

from __future__ import annotations

from collections.abc import Collection

from schemas.compositions import ClearCases
from schemas.drafts import Draft
from schemas.verdict_space import Label
from schemas.verdicts import CriterionVerdict
from workers.judge.composed.joining import joined, like
from workers.judge.protocols import Judge


class CascadeJudge:
    """Asks ``first``; what it may not settle, ``second`` decides alone. Both words are kept as votes."""

    def __init__(
        self,
        name: str,
        *,
        first: tuple[str, Judge],
        second: tuple[str, Judge],
        settles: Collection[Label],
        clear: ClearCases | None,
    ) -> None:
        self._name, self._first, self._second = name, first, second
        self._settles, self._clear = frozenset(settles), clear

    @property
    def criterion_id(self) -> str:
        return self._first[1].criterion_id

    async def judge(self, draft: Draft, *, deadline: float) -> CriterionVerdict:
        name, judge = self._first
        members = {name: await judge.judge(draft, deadline=deadline)}
        last = members[name]
        if not settled(last, settles=self._settles, clear=self._clear):
            name, judge = self._second
            last = members[name] = await judge.judge(draft, deadline=deadline)
        whole = joined(self._name, members, **like(last))
        waited_ms = sum(verdict.usage.latency_ms for verdict in members.values())  # one after the other
        return whole.model_copy(update={"usage": whole.usage.model_copy(update={"latency_ms": waited_ms})})


def settled(verdict: CriterionVerdict, *, settles: Collection[Label], clear: ClearCases | None) -> bool:
    """True for a decision that the first judge may make. A non-decision never settles anything."""
    if verdict.label not in settles:
        return False
    if clear is None:
        return True
    score = verdict.score
    return score is not None and (score <= clear.fail_up_to or score >= clear.pass_from)
