"""What was said of a draft is found for all its criteria in one look, and nobody is asked again."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from typing import Any

import pytest
from redis.asyncio import Redis

from schemas.bom import DecisionSettings
from schemas.drafts import Draft
from schemas.verdict_space import Cause, Flag, Label
from schemas.verdicts import CriterionVerdict
from tests.services.process import free_port
from tests.workers.judge.asked import binding, draft
from tests.workers.judge.composed.members import ABSTAIN, F, P, Says, said
from tests.workers.judge.counted import Counted
from workers.judge.admission import AdmittingJudge
from workers.judge.cache import VerdictCache, redis_client
from workers.judge.cache_entry import verdict_key
from workers.judge.cached_judge import CachedJudge
from workers.judge.fallback_judge import FallbackJudge
from workers.judge.instrument import Asking, CriterionJudge, Instrument, StopAtFirstFail
from workers.judge.protocols import Judge

pytestmark = pytest.mark.anyio

NAMES = ("a", "b", "c")


class Speaks(Says):
    """Says one thing of the criterion it is named after."""

    def __init__(self, name: str, label: Label, **more: Any) -> None:
        super().__init__(label, **more)
        self.criterion_id = name
        self.verdict = said(label, **more).model_copy(update={"criterion_id": name})


class Bench:
    """Instruments over one Redis: what one of them says, the next one recalls."""

    def __init__(self, redis: Redis) -> None:
        self.counted = Counted()
        clock = asyncio.get_running_loop().time
        self.cache = VerdictCache(redis, counters=self.counted, clock=clock, rng=random.Random(0))
        self.clock = clock

    def behind(self, model: Judge, **admission: Any) -> AdmittingJudge:
        cached = CachedJudge(model, self.cache, bom_version="bom-1", counters=self.counted, clock=self.clock)
        options: dict[str, Any] = {"decision": DecisionSettings(), "admitted": ("gen",), **admission}
        return AdmittingJudge(cached, binding=binding(), counters=self.counted, **options)

    def instrument(self, models: Sequence[Judge], *, asking: Asking | None = None) -> Instrument:
        criteria = [CriterionJudge(name, rules=None, model=model) for name, model in zip(NAMES, models, strict=False)]
        return Instrument(criteria, deadline_s=5, asking=asking, cache=self.cache)

    async def judged(self, *labels: Label, of: Draft | None = None, asking: Asking | None = None) -> Said:
        models = [Speaks(name, label) for name, label in zip(NAMES, labels, strict=False)]
        verdicts = await self.instrument([self.behind(model) for model in models], asking=asking).judge(of or draft())
        return Said(verdicts, [model.asked for model in models])


class Said:
    def __init__(self, verdicts: Sequence[CriterionVerdict], asked: list[int]) -> None:
        self.verdicts, self.asked = verdicts, asked
        self.labels = [verdict.label for verdict in verdicts]
        self.cached = [verdict.cached for verdict in verdicts]


async def test_all_that_was_decided_is_recalled_and_nobody_is_asked(redis: Redis) -> None:
    bench = Bench(redis)
    first = await bench.judged(P, F, P)
    again = await bench.judged(F, P, F)
    assert (first.asked, again.asked) == ([1, 1, 1], [0, 0, 0])
    assert (first.labels, again.labels) == ([P, F, P], [P, F, P])
    assert again.cached == [True, True, True]
    hits_and_misses = {name: n for name, n in bench.counted.counts.items() if n and name.startswith("cache_lookups")}
    assert hits_and_misses == {f"cache_lookups {name} {how}": 1 for name in NAMES for how in ("miss", "hit")}


async def test_all_criteria_of_many_drafts_are_one_question_to_redis(redis: Redis) -> None:
    bench = Bench(redis)
    asked: list[int] = []

    async def counted(keys: list[str]) -> list[bytes | None]:
        asked.append(len(keys))
        return [None for _ in keys]

    bench.cache._client.mget = counted
    drafts = [draft(f"Text {number}.") for number in range(10)]
    await asyncio.gather(*(bench.judged(P, P, of=one) for one in drafts))
    assert asked == [20]


async def test_only_what_is_not_known_is_asked(redis: Redis) -> None:
    bench = Bench(redis)
    await bench.judged(P, ABSTAIN, F)
    again = await bench.judged(F, P, P)
    assert (again.asked, again.labels, again.cached) == ([0, 1, 0], [P, P, F], [True, False, True])


async def test_what_is_known_of_a_later_criterion_does_not_stop_an_earlier_one(redis: Redis) -> None:
    """Or the verdicts on a draft would hang on what happens to be in the cache."""
    bench = Bench(redis)
    await bench.judged(ABSTAIN, F)
    stops = StopAtFirstFail(set(NAMES))
    again = await bench.judged(P, P, asking=stops)
    assert (again.labels, again.asked) == ([P, F], [1, 0])
    known = await bench.judged(P, P, P, asking=stops)
    assert [verdict.cause for verdict in known.verdicts] == [None, None, Cause.STOPPED_EARLY]
    assert known.asked == [0, 0, 0]


async def test_a_verdict_in_the_cache_does_not_open_the_door_to_the_judges_own_family(redis: Redis) -> None:
    bench = Bench(redis)
    admitted, own = draft(generator_model="gen-writer"), draft(generator_model="judge-writer")
    assert admitted.judged_sha256 == own.judged_sha256  # the very same key in the cache
    assert (await bench.judged(P, of=admitted)).labels == [P]
    refused = await bench.judged(P, of=own)
    assert [(v.label, v.cause) for v in refused.verdicts] == [(ABSTAIN, Cause.SAME_FAMILY)]


@pytest.mark.parametrize("entry", [b"1 {", b"0 old", b"\xff"])
async def test_an_entry_that_cannot_be_read_is_judged_anew_and_counted_once(redis: Redis, entry: bytes) -> None:
    bench = Bench(redis)
    await redis.set(verdict_key(draft().judged_sha256, "bom-1", "a"), entry)
    assert (await bench.judged(P)).asked == [1]
    assert (await bench.judged(F)).labels == [P]
    assert bench.counted.counts["cache_lookups a corrupt"] == 1
    assert bench.counted.counts["cache_lookups a miss"] == 0


async def test_without_redis_everybody_is_asked_and_the_verdicts_say_so() -> None:
    gone = redis_client(f"redis://127.0.0.1:{free_port()}/0")
    said = await Bench(gone).judged(P, F)
    assert (said.asked, said.labels) == ([1, 1], [P, F])
    assert all(Flag.CACHE_DOWN in verdict.flags for verdict in said.verdicts)
    await gone.aclose()


async def test_what_the_primary_decided_is_recalled_while_its_endpoint_is_broken(redis: Redis) -> None:
    bench = Bench(redis)
    await bench.judged(F)
    primary, stand_in = Speaks("a", ABSTAIN), Speaks("a", P)
    both = FallbackJudge(bench.behind(primary), stand_in, broken=lambda: True, counters=bench.counted)
    (verdict,) = await bench.instrument([both]).judge(draft())
    assert (verdict.label, verdict.cached, verdict.flags) == (F, True, ())
    assert (primary.asked, stand_in.asked) == (0, 0)
