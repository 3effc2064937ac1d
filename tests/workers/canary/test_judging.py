from __future__ import annotations

import pytest

from schemas.drafts import Draft
from schemas.verdict_space import Label
from schemas.verdicts import CriterionVerdict, Served, Vote
from tests.workers.canary.specimens import items
from workers.canary.judging import judge_set

pytestmark = pytest.mark.anyio


async def test_the_models_behind_a_composed_verdict_are_all_remembered() -> None:
    votes = tuple(
        Vote(name=name, judge=name, label=Label.PASS, served=Served(model=model))
        for name, model in [("a", "birch-1"), ("b", "cedar-2"), ("c", None)]
    )

    async def judge(_: Draft) -> tuple[CriterionVerdict, ...]:
        return (
            CriterionVerdict(criterion_id="c1", label=Label.PASS, judge="panel", votes=votes),
            CriterionVerdict(criterion_id="c2", label=Label.PASS, judge="larch", served=Served(model="larch-3")),
            CriterionVerdict(criterion_id="c3", label=Label.PASS, judge="rule:length"),
        )

    judged = await judge_set(items(1), judge, at_once=1)
    assert [one.models for one in judged.values()] == [("birch-1", "cedar-2"), ("larch-3",), ()]
