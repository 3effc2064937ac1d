"""A cheap judge for the clear cases, a better one for the rest (S2 7.10): validated as the one judge that it is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

from schemas.compositions import Cascade, ClearCases
from schemas.drafts import Draft
from schemas.verdict_space import Label
from schemas.verdicts import CriterionVerdict, Served
from workers.judge.composed.joining import joined, like
from workers.judge.protocols import Judge


@dataclass(frozen=True, slots=True)
class Settles:
    """Which decisions of the first judge stand."""

    labels: Collection[Label]
    clear: ClearCases | None = None
    min_probability: float | None = None

    @classmethod
    def of(cls, cascade: Cascade) -> Self:
        return cls(cascade.settles, cascade.clear, cascade.min_probability)

    def __call__(self, verdict: CriterionVerdict) -> bool:
        """A non-decision never settles anything, nor does a decision whose score or probability is unknown."""
        if verdict.label not in self.labels or not verdict.label.decided:
            return False
        return self._clear(verdict.score) and self._sure(verdict.served)

    def _clear(self, score: int | None) -> bool:
        if self.clear is None:
            return True
        return score is not None and (score <= self.clear.fail_up_to or score >= self.clear.pass_from)

    def _sure(self, served: Served | None) -> bool:
        if self.min_probability is None:
            return True
        probability = served.label_probability if served else None
        return probability is not None and probability >= self.min_probability


class CascadeJudge:
    """Asks ``first``; what it may not settle, ``second`` decides alone. Both words are kept as votes."""

    def __init__(self, name: str, *, first: tuple[str, Judge], second: tuple[str, Judge], settles: Settles) -> None:
        self._name, self._first, self._second, self._settles = name, first, second, settles

    @property
    def criterion_id(self) -> str:
        return self._first[1].criterion_id

    async def judge(self, draft: Draft, *, deadline: float) -> CriterionVerdict:
        name, judge = self._first
        members = {name: await judge.judge(draft, deadline=deadline)}
        last = members[name]
        if not self._settles(last):
            name, judge = self._second
            last = members[name] = await judge.judge(draft, deadline=deadline)
        whole = joined(self._name, members, **like(last))
        waited_ms = sum(verdict.usage.latency_ms for verdict in members.values())  # one after the other
        return whole.model_copy(update={"usage": whole.usage.model_copy(update={"latency_ms": waited_ms})})
