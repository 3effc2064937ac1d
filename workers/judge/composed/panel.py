"""A roster of judges that votes: different models, or one model asked several times."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from schemas.drafts import Draft
from schemas.verdicts import CriterionVerdict
from workers.judge.composed.tally import Rule, tally
from workers.judge.protocols import Judge


class PanelJudge:
    """Asks every member at once and counts. ``members`` is by name; all of them judge the same criterion."""

    def __init__(self, name: str, members: Mapping[str, Judge], rule: Rule) -> None:
        self._name, self._members, self._rule = name, dict(members), rule

    @property
    def criterion_id(self) -> str:
        return next(iter(self._members.values())).criterion_id

    async def judge(self, draft: Draft, *, deadline: float) -> CriterionVerdict:
        verdicts = await asyncio.gather(*(member.judge(draft, deadline=deadline) for member in self._members.values()))
        return tally(self._name, dict(zip(self._members, verdicts, strict=True)), self._rule)
