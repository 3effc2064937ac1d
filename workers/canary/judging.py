"""The whole canary set through the bare judge, many items at a time: no cache may answer in the judge's place."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from schemas.drafts import Draft
from schemas.verdict_space import Cause, Label
from schemas.verdicts import CriterionVerdict
from workers.bom.labelled_set import LabelledItem

BareJudge = Callable[[Draft], Awaitable[Sequence[CriterionVerdict]]]

_NEVER_ASKED = frozenset({Cause.UNAUTHORIZED, Cause.BAD_REQUEST, Cause.OVER_BUDGET, Cause.NOT_BOUND})


class Key(NamedTuple):
    """One verdict of the set."""

    item_id: str
    criterion_id: str


class Judged(NamedTuple):
    """What the judge said this time. ``expected`` is what people say; None where they did not label the criterion."""

    label: Label
    cause: Cause | None = None
    injection: bool = False
    expected: Label | None = None
    models: tuple[str, ...] = ()  # that answered; several where several judge as one

    @property
    def could_not_be_asked(self) -> bool:
        return self.cause is not None and (self.cause.transient or self.cause in _NEVER_ASKED)


async def judge_set(
    items: Sequence[LabelledItem], judge: BareJudge, *, at_once: int, judged: Callable[[], None] = lambda: None
) -> Mapping[Key, Judged]:
    """Every verdict on every item, in the set's order. ``judged`` is called after each item."""
    room = asyncio.Semaphore(at_once)

    async def one(item: LabelledItem) -> list[tuple[Key, Judged]]:
        async with room:
            verdicts = await judge(item.as_draft())
        judged()
        return [(Key(item.item_id, verdict.criterion_id), _judged(verdict, item)) for verdict in verdicts]

    return dict(pair for pairs in await asyncio.gather(*map(one, items)) for pair in pairs)


def _judged(verdict: CriterionVerdict, item: LabelledItem) -> Judged:
    expected = item.expected.get(verdict.criterion_id)
    return Judged(
        verdict.label,
        verdict.cause,
        item.injection,
        None if expected is None else Label(expected),
        _models(verdict),
    )


def _models(verdict: CriterionVerdict) -> tuple[str, ...]:
    """The models that say they answered: the judge's own, or those of the votes it was made from."""
    served = (verdict.served, *(vote.served for vote in verdict.votes))
    return tuple(one.model for one in served if one is not None and one.model is not None)
