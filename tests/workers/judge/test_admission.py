from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from redis.asyncio import Redis

from schemas.bom import DecisionSettings
from schemas.drafts import Draft
from schemas.verdict_space import Cause, Flag, Label
from schemas.verdicts import CriterionVerdict, Usage
from tests.workers.judge.asked import binding, draft, within
from tests.workers.judge.counted import Counted
from workers.judge.admission import AdmittingJudge
from workers.judge.cache import VerdictCache
from workers.judge.cached_judge import CachedJudge
from workers.judge.protocols import Judge

pytestmark = pytest.mark.anyio

TEXT = "A phone with a 6.7 inch display."


class Passing:
    """Passes everything and counts."""

    criterion_id = "grounding"

    def __init__(self) -> None:
        self.calls = 0

    async def judge(self, draft: Draft, *, deadline: float) -> CriterionVerdict:
        self.calls += 1
        return CriterionVerdict(criterion_id="grounding", label=Label.PASS, judge="judge-1", usage=Usage(calls=1))


def admitting(judge: Judge, *, counters: Counted | None = None, **sizes: int) -> AdmittingJudge:
    decision = DecisionSettings(**sizes)
    return AdmittingJudge(
        judge, binding=binding(), decision=decision, admitted=("gen",), counters=counters or Counted()
    )


FREE = Usage(calls=0, input_tokens=0, output_tokens=0, cost_usd=0.0)


@pytest.mark.parametrize(
    ("changes", "label", "cause", "flags"),
    [
        ({"context": {}}, Label.ABSTAIN, Cause.NO_INSTRUCTION, ()),
        ({"context": {"instruction": " \n"}}, Label.ABSTAIN, Cause.NO_INSTRUCTION, ()),
        (
            {"context": {"instruction": "x", "items": [{"role": "target"}]}},
            Label.MISSING_EVIDENCE,
            Cause.UNREADABLE_CONTEXT,
            (),
        ),
        ({"text": "x" * 101}, Label.ABSTAIN, Cause.OVERSIZE, ()),
        ({"context": {"instruction": "x" * 201}}, Label.ABSTAIN, Cause.OVERSIZE, ()),
        (
            {"context": {"instruction": "x", "items": [{"role": "target", "metadata": {"a": ["x" * 201]}}]}},
            Label.ABSTAIN,
            Cause.OVERSIZE,
            (),
        ),
        ({"generator_model": "judge-writer"}, Label.ABSTAIN, Cause.SAME_FAMILY, (Flag.SAME_FAMILY,)),
        ({"generator_model": "stranger"}, Label.ABSTAIN, Cause.SAME_FAMILY, (Flag.SAME_FAMILY,)),
    ],
)
async def test_some_drafts_are_not_put_before_the_model_and_cost_nothing(
    changes: dict[str, Any], label: Label, cause: Cause, flags: tuple[Flag, ...]
) -> None:
    judge, counted = Passing(), Counted()
    door = admitting(judge, counters=counted, max_draft_chars=100, max_context_chars=200)
    verdict = await door.judge(draft(**{"text": TEXT, **changes}), deadline=within(5))
    assert (verdict.label, verdict.cause, verdict.flags, verdict.usage) == (label, cause, flags, FREE)
    assert (judge.calls, counted.counts) == (0, {f"model_non_decisions grounding {cause}": 1})


async def test_a_draft_at_the_limits_and_of_an_admitted_family_is_judged() -> None:
    door = admitting(Passing(), max_draft_chars=len(TEXT), max_context_chars=200)
    verdict = await door.judge(draft(TEXT, generator_model="gen-writer@2026-10-01"), deadline=within(5))
    assert verdict.label is Label.PASS


async def test_a_verdict_in_the_cache_does_not_open_the_door_to_the_judges_own_family(redis: Redis) -> None:
    counted, clock = Counted(), asyncio.get_running_loop().time
    cache = VerdictCache(redis, counters=counted, clock=clock, rng=random.Random(0))
    cached = CachedJudge(Passing(), cache, bom_version="bom-1", counters=counted, clock=clock)
    door = admitting(cached)
    admitted = draft(TEXT, generator_model="gen-writer")
    own = draft(TEXT, generator_model="judge-writer")
    assert admitted.judged_sha256 == own.judged_sha256  # the very same key in the cache
    assert (await door.judge(admitted, deadline=within(5))).label is Label.PASS
    assert (await cached.judge(own, deadline=within(5))).cached  # what a door behind the cache would have said
    verdict = await door.judge(own, deadline=within(5))
    assert (verdict.label, verdict.cause) == (Label.ABSTAIN, Cause.SAME_FAMILY)
