"""A comparison in both orders: a judge that prefers a place, and not a text, decides nothing (S1, "Order fairness")."""

from __future__ import annotations

import asyncio
from typing import Any

from schemas.drafts import Draft
from schemas.rating import Comparison, OnInconsistent
from schemas.verdict_space import Cause, Choice, Flag, Label
from schemas.verdicts import CriterionVerdict
from workers.judge.composed.joining import joined, like, undecided
from workers.judge.protocols import Judge


class PairwiseJudge:
    """Asks one model twice at once, each text first once. Both judges speak of the draft as A, whatever they saw first.

    The two answers stand as votes ``draft_first`` and ``rival_first``, from which flips and reversals are counted.
    """

    def __init__(self, comparison: Comparison, *, draft_first: Judge, rival_first: Judge) -> None:
        self._comparison, self._draft_first, self._rival_first = comparison, draft_first, rival_first

    @property
    def criterion_id(self) -> str:
        return self._draft_first.criterion_id

    async def judge(self, draft: Draft, *, deadline: float) -> CriterionVerdict:
        one, other = await asyncio.gather(
            self._draft_first.judge(draft, deadline=deadline), self._rival_first.judge(draft, deadline=deadline)
        )
        return joined(
            one.judge, {"draft_first": one, "rival_first": other}, **in_both_orders(one, other, self._comparison)
        )


def in_both_orders(one: CriterionVerdict, other: CriterionVerdict, comparison: Comparison) -> dict[str, Any]:
    """The same preference twice stands. Two different ones are a tie or no decision, as the BOM says, and flagged."""
    if one.preference is None or other.preference is None:
        return undecided([one, other])
    if one.preference is other.preference:
        return like(one)
    reversal = one.preference is other.preference.mirrored
    changes: dict[str, Any] = {
        "detail": f"{one.preference} with the draft first, {other.preference} with the rival first",
        "flags": (Flag.ORDER_FLIP, Flag.ORDER_REVERSAL) if reversal else (Flag.ORDER_FLIP,),
    }
    if comparison.on_inconsistent is OnInconsistent.ABSTAIN:
        return changes | {"label": Label.ABSTAIN, "cause": Cause.ORDER_INCONSISTENT}
    return changes | {"label": comparison.label_of(Choice.TIE), "preference": Choice.TIE}
