from __future__ import annotations

import asyncio

import pytest

from schemas.compositions import OnDisagreement, VotingRule
from schemas.drafts import Draft
from schemas.verdict_space import Label
from schemas.verdicts import CriterionVerdict
from tests.workers.judge.asked import draft, within
from tests.workers.judge.composed.members import F, P, Says
from workers.judge.composed.panel import PanelJudge
from workers.judge.composed.tally import Rule

pytestmark = pytest.mark.anyio


def majority(*names: str) -> Rule:
    return Rule(VotingRule.MAJORITY, OnDisagreement.ABSTAIN, dict.fromkeys(names, 1.0))


class Meets:
    """Answers only once the others have been asked too."""

    criterion_id = "grounding"

    def __init__(self, barrier: asyncio.Barrier, label: Label) -> None:
        self.barrier, self.says = barrier, Says(label)

    async def judge(self, draft: Draft, *, deadline: float) -> CriterionVerdict:
        async with self.barrier:
            return await self.says.judge(draft, deadline=deadline)


async def test_all_members_are_asked_at_once() -> None:
    barrier = asyncio.Barrier(3)
    members = {name: Meets(barrier, label) for name, label in {"a": P, "b": F, "c": P}.items()}
    async with asyncio.timeout(5):
        verdict = await PanelJudge("three", members, majority("a", "b", "c")).judge(draft(), deadline=within(5))
    assert (verdict.label, verdict.judge, len(verdict.votes)) == (P, "three", 3)


async def test_a_panel_of_panels_shows_every_vote_under_its_path_and_counts_its_cost_once() -> None:
    inner = PanelJudge("inner", {"a": Says(P, judge="ma"), "b": Says(P, judge="mb")}, majority("a", "b"))
    outer = PanelJudge("outer", {"inner": inner, "c": Says(P, judge="mc")}, majority("inner", "c"))
    verdict = await outer.judge(draft(), deadline=within(5))
    assert [(vote.name, vote.judge) for vote in verdict.votes] == [
        ("c", "mc"), ("inner", "inner"), ("inner/a", "ma"), ("inner/b", "mb"),
    ]  # fmt: skip
    assert verdict.usage.calls == 3
