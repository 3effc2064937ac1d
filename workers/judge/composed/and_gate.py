"""Two judges that must both pass a draft: who learned to please the first must please a stranger too (S2 6.2)."""

from __future__ import annotations

import asyncio
from typing import Any

from schemas.compositions import Applies
from schemas.drafts import Draft
from schemas.verdict_space import Choice, Label
from schemas.verdicts import CriterionVerdict
from workers.judge.composed.joining import joined, like, undecided
from workers.judge.protocols import Judge

_WORST_FIRST = (Choice.B, Choice.TIE, Choice.A)


class AndGateJudge:
    """Asks both at once where the gate ``applies`` to the draft, else ``first`` alone.

    What it says may depend on the attempt, which is no part of what is judged: it stands outside the verdict cache.
    """

    def __init__(self, name: str, *, first: tuple[str, Judge], second: tuple[str, Judge], applies: Applies) -> None:
        self._name, self._first, self._second, self._applies = name, first, second, applies

    @property
    def criterion_id(self) -> str:
        return self._first[1].criterion_id

    async def judge(self, draft: Draft, *, deadline: float) -> CriterionVerdict:
        alone = self._applies is Applies.REVISED and draft.attempt == 0
        asked = (self._first,) if alone else (self._first, self._second)
        verdicts = await asyncio.gather(*(judge.judge(draft, deadline=deadline) for _, judge in asked))
        members = {name: verdict for (name, _), verdict in zip(asked, verdicts, strict=True)}
        return joined(self._name, members, **both(verdicts))


def both(verdicts: list[CriterionVerdict]) -> dict[str, Any]:
    """A fail of either is a fail, in its words; else a non-decision of either decides nothing; else pass."""
    if len(verdicts) == 1:
        return like(verdicts[0])
    speaker = next((verdict for verdict in verdicts if verdict.label is Label.FAIL), verdicts[0])
    if speaker.label is not Label.FAIL and not all(verdict.label.decided for verdict in verdicts):
        return undecided(verdicts)
    scores = [verdict.score for verdict in verdicts if verdict.score is not None]
    preferences = {verdict.preference for verdict in verdicts}
    return like(
        speaker,
        score=min(scores, default=None),
        preference=next((choice for choice in _WORST_FIRST if choice in preferences), None),
        served=None,
    )
