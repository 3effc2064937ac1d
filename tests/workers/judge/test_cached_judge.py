from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path
from typing import Any

import fakeredis
import pytest
from redis.asyncio import Redis

from schemas.drafts import Draft
from schemas.verdict_space import Cause, Flag, Label
from schemas.verdicts import CriterionVerdict, Usage
from tests.services.process import free_port
from tests.workers.judge.asked import draft, within
from tests.workers.judge.counted import Counted
from workers.judge.cache import VerdictCache, redis_client
from workers.judge.cache_entry import claim_key, verdict_key, write_entry
from workers.judge.cached_judge import CachedJudge

pytestmark = pytest.mark.anyio

PAID = Usage(calls=1, input_tokens=120, output_tokens=30, cost_usd=0.01, latency_ms=5.0)


class Slow:
    """Answers after a while and counts; abstains at once when the deadline is past, as a real judge does."""

    criterion_id = "grounding"

    def __init__(self, *labels: Label, takes_s: float = 0.01) -> None:
        self.labels, self.calls, self.takes_s = list(labels), 0, takes_s

    async def judge(self, draft: Draft, *, deadline: float) -> CriterionVerdict:
        if deadline <= asyncio.get_running_loop().time():
            return self._verdict(Label.ABSTAIN, Usage())
        self.calls += 1
        await asyncio.sleep(self.takes_s)
        return self._verdict(self.labels.pop(0) if len(self.labels) > 1 else self.labels[0], PAID)

    def _verdict(self, label: Label, usage: Usage) -> CriterionVerdict:
        return CriterionVerdict(
            criterion_id=self.criterion_id,
            label=label,
            cause=None if label.decided else Cause.TIMEOUT,
            reason="The sheet says 6.1.",
            evidence_spans=("6.7 inch",),
            judge="judge-1",
            usage=usage,
        )


def cached(
    judge: Slow, client: Redis, *, bom: str = "bom-1", counters: Counted | None = None, **options: Any
) -> CachedJudge:
    clock = asyncio.get_running_loop().time
    counted = counters or Counted()
    cache = VerdictCache(client, counters=counted, clock=clock, rng=random.Random(0), **options)
    return CachedJudge(judge, cache, bom_version=bom, counters=counted, clock=clock)


def key_of(judged: Draft, bom: str = "bom-1") -> str:
    return verdict_key(judged.judged_sha256, bom, "grounding")


async def test_the_second_verdict_equals_the_first_and_costs_nothing(redis: Redis) -> None:
    judge, counted = Slow(Label.FAIL), Counted()
    first = await cached(judge, redis).judge(draft(), deadline=within(5))
    second = await cached(judge, redis, counters=counted).judge(draft(), deadline=within(5))
    assert (first.cached, first.usage) == (False, PAID)
    assert (second.cached, second.usage.calls, second.usage.cost_usd) == (True, 0, 0.0)
    assert second.model_copy(update={"cached": False, "usage": PAID}) == first
    assert judge.calls == 1
    assert counted.counts == {"cache_lookups grounding hit": 1}


async def test_three_workers_with_100_identical_drafts_each_make_one_call(redis: Redis) -> None:
    judge = Slow(Label.PASS, takes_s=0.05)
    workers = [cached(judge, redis) for _ in range(3)]
    verdicts = await asyncio.gather(
        *(worker.judge(draft(), deadline=within(5)) for worker in workers for _ in range(100))
    )
    assert judge.calls == 1
    assert {verdict.label for verdict in verdicts} == {Label.PASS}
    assert sum(verdict.usage.cost_usd or 0.0 for verdict in verdicts) == 0.01
    assert sum(not verdict.cached for verdict in verdicts) == 1


async def test_another_text_context_or_bom_is_another_verdict(redis: Redis) -> None:
    judge = Slow(Label.PASS)
    one = cached(judge, redis)
    await one.judge(draft(), deadline=within(5))
    await one.judge(draft("Another text."), deadline=within(5))
    await one.judge(draft(context={"instruction": "Describe it briefly."}), deadline=within(5))
    await cached(judge, redis, bom="bom-2").judge(draft(), deadline=within(5))
    assert judge.calls == 4
    await one.judge(draft(item_id="sku-2", attempt=3, slices=["new"]), deadline=within(5))
    assert judge.calls == 4


async def test_an_abstain_is_shared_by_who_waits_here_and_never_stored(redis: Redis) -> None:
    judge = Slow(Label.ABSTAIN, Label.PASS)
    one = cached(judge, redis)
    verdicts = await asyncio.gather(*(one.judge(draft(), deadline=within(5)) for _ in range(10)))
    assert {(verdict.label, verdict.cached) for verdict in verdicts} == {(Label.ABSTAIN, False)}
    assert sum(verdict.usage.calls for verdict in verdicts) == judge.calls == 1
    later = await one.judge(draft(), deadline=within(5))
    assert (later.label, judge.calls) == (Label.PASS, 2)


@pytest.mark.parametrize("entry", [b"1 {", b"0 old", b"\xff", "another type"])
async def test_a_corrupt_entry_is_a_miss_counted_and_replaced(redis: Redis, entry: bytes | str) -> None:
    if isinstance(entry, str):
        await redis.hset(key_of(draft()), "a", "b")
    else:
        await redis.set(key_of(draft()), entry)
    judge, counted = Slow(Label.PASS), Counted()
    one = cached(judge, redis, counters=counted)
    assert (await one.judge(draft(), deadline=within(5))).cached is False
    assert (await one.judge(draft(), deadline=within(5))).cached is True
    assert judge.calls == 1
    assert counted.counts["cache_lookups grounding corrupt"] + counted.counts["cache_corrupt_entries"] == 1


async def test_the_verdict_that_was_stored_first_stands_at_what_ours_has_cost(redis: Redis) -> None:
    first = await Slow(Label.PASS).judge(draft(), deadline=within(5))

    class Overtaken(Slow):
        """Another worker stores its verdict while this one judges."""

        async def judge(self, draft: Draft, *, deadline: float) -> CriterionVerdict:
            await redis.set(key_of(draft), write_entry(first))
            return await super().judge(draft, deadline=deadline)

    verdict = await cached(Overtaken(Label.FAIL), redis).judge(draft(), deadline=within(5))
    assert (verdict.label, verdict.cached, verdict.usage) == (Label.PASS, False, PAID)


async def test_a_dead_holder_is_taken_over(redis: Redis) -> None:
    await redis.set(claim_key(key_of(draft())), "of a worker that was killed", px=100)
    judge = Slow(Label.PASS)
    verdict = await cached(judge, redis).judge(draft(), deadline=within(5))
    assert (verdict.label, judge.calls) == (Label.PASS, 1)


async def test_waiting_for_another_worker_ends_at_the_deadline(redis: Redis) -> None:
    await redis.set(claim_key(key_of(draft())), "of a worker that takes long", px=60_000)
    judge = Slow(Label.PASS)
    verdict = await cached(judge, redis).judge(draft(), deadline=within(0.05))
    assert (verdict.label, verdict.cause, judge.calls) == (Label.ABSTAIN, Cause.TIMEOUT, 0)
    assert await redis.get(key_of(draft())) is None


async def test_a_cancelled_holder_gives_its_claim_back(redis: Redis) -> None:
    judge = Slow(Label.PASS, takes_s=5.0)
    running = asyncio.create_task(cached(judge, redis).judge(draft(), deadline=within(9)))
    await asyncio.sleep(0.05)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    judge.takes_s = 0.0
    verdict = await cached(judge, redis).judge(draft(), deadline=within(1))
    assert (verdict.label, judge.calls) == (Label.PASS, 2)


async def test_without_redis_the_judge_goes_on_says_so_and_still_calls_once_for_who_come_together() -> None:
    judge, counted = Slow(Label.PASS), Counted()
    client = redis_client(f"redis://127.0.0.1:{free_port()}/0")
    one = cached(judge, client, counters=counted)
    verdicts = await asyncio.gather(*(one.judge(draft(), deadline=within(5)) for _ in range(10)))
    assert {verdict.flags for verdict in verdicts} == {(Flag.CACHE_DOWN,)}
    assert judge.calls == 1
    assert counted.counts["cache_lookups grounding down"] == 1
    await client.aclose()


async def test_redis_that_goes_away_while_the_model_works_costs_no_verdict_and_no_second_call() -> None:
    server = fakeredis.FakeServer()
    client = fakeredis.FakeAsyncRedis(server=server)
    judge = Slow(Label.PASS)
    running = asyncio.create_task(cached(judge, client).judge(draft(), deadline=within(5)))
    await asyncio.sleep(0.005)
    server.connected = False
    verdict = await running
    assert (verdict.label, verdict.flags, judge.calls) == (Label.PASS, (Flag.CACHE_DOWN,), 1)


HOLDER = """
import asyncio, random, sys
from tests.workers.judge.asked import draft, within
from tests.workers.judge.test_cached_judge import Label, Slow, cached
from workers.judge.cache import redis_client

async def main():
    judging = cached(Slow(Label.FAIL, takes_s=60.0), redis_client(sys.argv[1]), claim_ttl_s=0.3)
    task = asyncio.create_task(judging.judge(draft(), deadline=within(90)))
    await asyncio.sleep(0.5)  # longer than a claim lasts: it must have been renewed
    print("judging", flush=True)
    await task

asyncio.run(main())
"""


@pytest.mark.real
async def test_a_worker_killed_while_it_judges_stalls_the_others_for_one_claim_and_no_longer(real_redis: str) -> None:
    client = redis_client(real_redis)
    await client.flushdb()
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, real_redis, cwd=Path(__file__).parents[3], stdout=asyncio.subprocess.PIPE
    )
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"judging\n"
    assert await client.exists(claim_key(key_of(draft()))) == 1
    holder.kill()
    await holder.wait()
    judge, started = Slow(Label.PASS), asyncio.get_running_loop().time()
    verdict = await cached(judge, client).judge(draft(), deadline=within(30))
    assert (verdict.label, judge.calls) == (Label.PASS, 1)
    assert asyncio.get_running_loop().time() - started < 2.0
    await client.aclose()


async def test_an_abstain_gives_way_to_what_another_worker_has_decided_meanwhile(redis: Redis) -> None:
    judge, counted = Slow(Label.ABSTAIN, takes_s=0.05), Counted()
    asking = asyncio.create_task(cached(judge, redis, counters=counted).judge(draft(), deadline=within(5)))
    await asyncio.sleep(0.02)
    decided = judge._verdict(Label.FAIL, Usage())
    await redis.set(key_of(draft()), write_entry(decided))  # our claim ran out, or Redis was emptied
    verdict = await asking
    assert (verdict.label, verdict.cached, verdict.usage) == (Label.FAIL, False, PAID)
