"""All judges of a draft under one deadline: the rules settle what they can, the models are asked all at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from schemas.drafts import Draft
from schemas.verdict_space import Cause, Label
from schemas.verdicts import CriterionVerdict
from workers.judge.protocols import Judge

_GRACE_S = 1.0


class Rules(Protocol):
    """The deterministic part of a criterion."""

    def verdict(self, draft: Draft) -> CriterionVerdict: ...


class CriterionJudge:
    """One must-have: rules first; a draft that no rule rejects goes to the model, where one is bound.

    Rules that do not apply leave the decision to the model; without a model theirs is the verdict.
    """

    def __init__(self, criterion_id: str, *, rules: Rules | None, model: Judge | None) -> None:
        self.criterion_id, self._rules, self._model = criterion_id, rules, model

    def by_rules(self, draft: Draft) -> CriterionVerdict | None:
        """The verdict, when no model need be asked."""
        if self._rules is None:
            return None if self._model is not None else self.abstain(Cause.NOT_BOUND, Label.NOT_IMPLEMENTED)
        verdict = self._rules.verdict(draft)
        open_for_model = verdict.label in (Label.PASS, Label.NOT_APPLICABLE) and self._model is not None
        return None if open_for_model else verdict

    async def by_model(self, draft: Draft, *, deadline: float) -> CriterionVerdict:
        """The model's verdict. A judge that outlives the deadline is cut off: abstain(timeout)."""
        if self._model is None:
            return self.abstain(Cause.NOT_BOUND, Label.NOT_IMPLEMENTED)
        try:
            async with asyncio.timeout_at(deadline + _GRACE_S):
                return await self._model.judge(draft, deadline=deadline)
        except TimeoutError:
            return self.abstain(Cause.TIMEOUT)

    def abstain(self, cause: Cause, label: Label = Label.ABSTAIN) -> CriterionVerdict:
        return CriterionVerdict(criterion_id=self.criterion_id, label=label, cause=cause, judge="none")


class Instrument:
    """Every must-have criterion of a BOM. Same draft, same verdicts: it keeps no state between drafts."""

    def __init__(self, judges: Sequence[CriterionJudge], *, deadline_s: float) -> None:
        self._judges, self._deadline_s = tuple(judges), deadline_s

    async def judge(self, draft: Draft) -> tuple[CriterionVerdict, ...]:
        """One verdict a criterion, in the charter's order; none is ever missing."""
        settled = [judge.by_rules(draft) for judge in self._judges]
        if all(settled):
            return tuple(verdict for verdict in settled if verdict is not None)
        deadline = asyncio.get_running_loop().time() + self._deadline_s
        asked = [judge for judge, verdict in zip(self._judges, settled, strict=True) if verdict is None]
        if len(asked) == 1:
            answers = [await asked[0].by_model(draft, deadline=deadline)]
        else:
            answers = await asyncio.gather(*(judge.by_model(draft, deadline=deadline) for judge in asked))
        answer = iter(answers)
        return tuple(next(answer) if verdict is None else verdict for verdict in settled)
