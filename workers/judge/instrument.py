"""All judges of a draft under one deadline: rules settle what they can, then the cache; then the models are asked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from schemas.drafts import Draft
from schemas.verdict_space import Cause, Label
from schemas.verdicts import CriterionVerdict, Usage
from workers.judge.cache import VerdictCache
from workers.judge.protocols import Judge
from workers.judge.recalling import Recall

_GRACE_S = 1.0


class Rules(Protocol):
    """The deterministic part of a criterion."""

    def verdict(self, draft: Draft) -> CriterionVerdict: ...


class CriterionJudge:
    """One must-have: rules first; a draft that no rule rejects goes to the model, where one is bound.

    Rules that do not apply leave the decision to the model; without a model theirs is the verdict.
    """

    def __init__(self, criterion_id: str, *, rules: Rules | None, model: Judge | None) -> None:
        self.criterion_id, self._rules, self.model = criterion_id, rules, model

    def by_rules(self, draft: Draft) -> CriterionVerdict | None:
        """The verdict, when no model need be asked."""
        if self._rules is None:
            return None if self.model is not None else self.abstain(Cause.NOT_BOUND, Label.NOT_IMPLEMENTED)
        verdict = self._rules.verdict(draft)
        open_for_model = verdict.label in (Label.PASS, Label.NOT_APPLICABLE) and self.model is not None
        return None if open_for_model else verdict

    async def by_model(self, draft: Draft, *, deadline: float) -> CriterionVerdict:
        """The model's verdict. A judge that outlives the deadline is cut off: abstain(timeout)."""
        if self.model is None:
            return self.abstain(Cause.NOT_BOUND, Label.NOT_IMPLEMENTED)
        try:
            async with asyncio.timeout_at(deadline + _GRACE_S):
                return await self.model.judge(draft, deadline=deadline)
        except TimeoutError:
            return self.abstain(Cause.TIMEOUT)

    def not_asked(self) -> CriterionVerdict:
        """Another criterion has failed the draft already: no call, hence no cost."""
        return self.abstain(Cause.STOPPED_EARLY).model_copy(update={"usage": _FREE})

    def abstain(self, cause: Cause, label: Label = Label.ABSTAIN) -> CriterionVerdict:
        return CriterionVerdict(criterion_id=self.criterion_id, label=label, cause=cause, judge="none")


Settled = Sequence[CriterionVerdict | None]
"""Criterion by criterion: the rules' verdict, or None where it is the model's to decide."""

_FREE = Usage(input_tokens=0, output_tokens=0, cost_usd=0.0)


class Asking(Protocol):
    """How the judges that rules did not settle are asked: one verdict each, in the charter's order.

    ``known`` is what models said before; they are not asked again.
    """

    async def __call__(
        self, judges: Sequence[CriterionJudge], settled: Settled, known: Settled, draft: Draft, deadline: float
    ) -> list[CriterionVerdict]: ...


class AllAtOnce:
    """Every criterion has its verdict, hence its reason for the revision request."""

    async def __call__(
        self, judges: Sequence[CriterionJudge], settled: Settled, known: Settled, draft: Draft, deadline: float
    ) -> list[CriterionVerdict]:
        verdicts = [by_rules or said for by_rules, said in zip(settled, known, strict=True)]
        asked = [judge for judge, verdict in zip(judges, verdicts, strict=True) if verdict is None]
        if asked:
            answer = iter(await self._answers(asked, draft, deadline))
            verdicts = [verdict or next(answer) for verdict in verdicts]
        return [verdict for verdict in verdicts if verdict is not None]

    async def _answers(self, asked: Sequence[CriterionJudge], draft: Draft, deadline: float) -> list[CriterionVerdict]:
        # The first one needs no task of its own: most drafts have few criteria.
        others = [asyncio.create_task(judge.by_model(draft, deadline=deadline)) for judge in asked[1:]]
        try:
            first = await asked[0].by_model(draft, deadline=deadline)
            return [first, *[await other for other in others]]
        finally:
            for other in others:
                other.cancel()


class StopAtFirstFail:
    """One criterion after the other, until one that the gate enforces has failed (S2 7.10).

    The rest is abstain(stopped_early): not judged, hence outside every fail rate. A fail by rules stops before the
    first call. The price is the other criteria's reasons, and the time of asking in turn.
    """

    def __init__(self, enforced: AbstractSet[str]) -> None:
        self._enforced = enforced

    async def __call__(
        self, judges: Sequence[CriterionJudge], settled: Settled, known: Settled, draft: Draft, deadline: float
    ) -> list[CriterionVerdict]:
        failed = any(verdict is not None and self._stops(verdict) for verdict in settled)
        verdicts = []
        for judge, verdict, said in zip(judges, settled, known, strict=True):
            if verdict is None:
                # What is known counts in its turn alone: what a draft is told does not hang on what was judged before.
                verdict = judge.not_asked() if failed else said or await judge.by_model(draft, deadline=deadline)
                failed = failed or self._stops(verdict)
            verdicts.append(verdict)
        return verdicts

    def _stops(self, verdict: CriterionVerdict) -> bool:
        return verdict.label is Label.FAIL and verdict.criterion_id in self._enforced


class Instrument:
    """Every must-have criterion of a BOM. Same draft, same verdicts: it keeps no state between drafts."""

    def __init__(
        self,
        judges: Sequence[CriterionJudge],
        *,
        deadline_s: float,
        asking: Asking | None = None,
        cache: VerdictCache | None = None,
    ) -> None:
        """``cache`` is the one that the judges keep their verdicts in."""
        self._judges, self._deadline_s, self._asking = tuple(judges), deadline_s, asking or AllAtOnce()
        self._recall = Recall([judge.model for judge in judges], cache) if cache is not None else None

    async def judge(self, draft: Draft) -> tuple[CriterionVerdict, ...]:
        """One verdict a criterion, in the charter's order; none is ever missing."""
        settled = [judge.by_rules(draft) for judge in self._judges]
        if all(settled):
            return tuple(verdict for verdict in settled if verdict is not None)
        deadline = asyncio.get_running_loop().time() + self._deadline_s
        known = [None] * len(settled) if self._recall is None else await self._recall(draft, settled)
        return tuple(await self._asking(self._judges, settled, known, draft, deadline))
