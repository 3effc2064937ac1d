"""A draft that comes twice under one event id is told the same twice, whatever became of its model meanwhile."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any

import fakeredis
import pytest
from redis.asyncio import Redis

from schemas.verdict_space import Cause, Flag, Label
from schemas.verdicts import CriterionVerdict, Vote
from tests.workers.judge.counted import Counted
from workers.judge.cache import VerdictCache
from workers.judge.memory import LOOK_AGAIN_AFTER_S, VerdictMemory, may_change, said_key


def said(label: Label, cause: Cause | None = None, *, judge: str = "judge-1") -> CriterionVerdict:
    return CriterionVerdict(criterion_id="a", label=label, cause=cause, judge=judge)


PASS, FAIL, ABSTAIN = said(Label.PASS), said(Label.FAIL), said(Label.ABSTAIN, Cause.TIMEOUT)


def memory(client: Redis, counted: Counted | None = None, *, ttl_s: float = 3600.0) -> VerdictMemory:
    clock, counted = asyncio.get_running_loop().time, counted or Counted()
    cache = VerdictCache(client, counters=counted, clock=clock, rng=random.Random(0))
    return VerdictMemory(cache, ttl_s=ttl_s, counters=counted, clock=clock)


def says(*verdicts: CriterionVerdict, after_s: float = 0.0) -> Callable[[], Awaitable[tuple[CriterionVerdict, ...]]]:
    async def judge() -> tuple[CriterionVerdict, ...]:
        await asyncio.sleep(after_s)
        return verdicts

    return judge


@pytest.mark.anyio
async def test_an_abstain_is_repeated_by_another_worker_and_another_draft_is_judged_anew(redis: Redis) -> None:
    counted = Counted()
    assert await memory(redis, counted).same("e-1", says(ABSTAIN)) == (ABSTAIN,)
    assert await memory(redis, counted).same("e-1", says(PASS)) == (ABSTAIN,)
    assert await memory(redis, counted).same("e-2", says(PASS)) == (PASS,)
    assert counted.counts == {"verdict_memory kept": 1, "verdict_memory repeated": 1}
    assert 3500 < await redis.ttl(said_key("e-1")) <= 3600


@pytest.mark.anyio
async def test_decided_verdicts_are_not_kept() -> None:
    redis = fakeredis.FakeAsyncRedis()
    await memory(redis).same("e-1", says(PASS, FAIL))
    assert await redis.keys() == []


@pytest.mark.anyio
async def test_of_two_workers_with_one_draft_the_first_abstain_stands() -> None:
    redis = fakeredis.FakeAsyncRedis()
    other = ABSTAIN.model_copy(update={"cause": Cause.UNREACHABLE})
    assert await memory(redis).same("e-1", says(ABSTAIN)) == (ABSTAIN,)
    assert await memory(redis).same("e-1", says(other)) == (ABSTAIN,)


@pytest.mark.anyio
async def test_what_was_said_while_a_model_thought_is_heard_too() -> None:
    redis = fakeredis.FakeAsyncRedis()
    slow = asyncio.create_task(memory(redis).same("e-1", says(PASS, after_s=LOOK_AGAIN_AFTER_S + 0.02)))
    await asyncio.sleep(0.01)
    await memory(redis).same("e-1", says(ABSTAIN))  # a worker that was taken for dead
    assert await slow == (ABSTAIN,)


@pytest.mark.anyio
async def test_without_redis_it_just_judges() -> None:
    server = fakeredis.FakeServer()
    server.connected = False
    counted = Counted()
    lost = memory(fakeredis.FakeAsyncRedis(server=server), counted)
    rule = said(Label.PASS, judge="rule:length")
    for verdict in (PASS, ABSTAIN):
        flagged = verdict.model_copy(update={"flags": (Flag.CACHE_DOWN,)})
        assert await lost.same("e-1", says(verdict, rule)) == (flagged, rule)
    assert counted.counts["verdict_memory down"] == 2


@pytest.mark.anyio
@pytest.mark.parametrize("junk", [b"", b"1 ", b"1 [{]", b"2 []", b"\xff\x00"])
async def test_junk_at_the_key_is_no_verdict(junk: bytes) -> None:
    redis, counted = fakeredis.FakeAsyncRedis(), Counted()
    await redis.set(said_key("e-1"), junk)
    assert await memory(redis, counted).same("e-1", says(PASS)) == (PASS,)
    assert await memory(redis, counted).same("e-1", says(ABSTAIN)) == (ABSTAIN,)
    assert counted.counts == {"verdict_memory corrupt": 2}


def _vote(label: Label, cause: Cause | None = None) -> Vote:
    return Vote(name="b", judge="judge-b", label=label, cause=cause)


@pytest.mark.parametrize(
    ("verdict", "may"),
    [
        (PASS, False),
        (FAIL, False),
        (ABSTAIN, True),
        (said(Label.ABSTAIN, Cause.REFUSED), True),
        (said(Label.NOT_APPLICABLE, Cause.NOTHING_TO_CHECK), True),
        (said(Label.NOT_APPLICABLE, Cause.NOTHING_TO_CHECK, judge="rule:length"), False),
        (said(Label.ABSTAIN, Cause.OVERSIZE), False),
        (PASS.model_copy(update={"votes": (_vote(Label.PASS),)}), False),
        (PASS.model_copy(update={"votes": (_vote(Label.ABSTAIN, Cause.TIMEOUT),)}), True),
        (PASS.model_copy(update={"flags": (Flag.FALLBACK_JUDGE,)}), True),
        (PASS.model_copy(update={"flags": (Flag.CACHE_DOWN,)}), True),
    ],
)
def test_what_may_be_said_otherwise_the_next_time(verdict: Any, may: bool) -> None:
    assert may_change(verdict) is may
