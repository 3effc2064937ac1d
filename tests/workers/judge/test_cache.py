from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Any

import fakeredis
import pytest
from redis.asyncio import Redis

from schemas.errors import SettingsError
from tests.services.process import free_port
from tests.services.redis import RealRedis
from tests.workers.judge.counted import Counted
from workers.judge.cache import CacheDown, Claimed, VerdictCache, redis_client
from workers.judge.cache_entry import claim_key, verdict_key

pytestmark = pytest.mark.anyio
KEY = verdict_key("ab" * 32, "bom-1", "grounding")
ENTRY, OTHER = b'1 {"a": "\xc3\xa9"}', b"1 other"


def cache_over(client: Redis, **options: Any) -> VerdictCache:
    clock = asyncio.get_running_loop().time
    return VerdictCache(client, **{"counters": Counted(), "clock": clock, "rng": random.Random(0), **options})


@pytest.fixture
async def cache(redis: Redis) -> AsyncIterator[VerdictCache]:
    opened = cache_over(redis)
    yield opened
    await opened.close()


async def test_what_is_stored_is_read_and_the_claim_is_gone(cache: VerdictCache, redis: Redis) -> None:
    assert await cache.read(KEY) is None
    claim = await cache.claim(KEY)
    assert claim.state is Claimed.CLAIMED
    assert await redis.get(claim_key(KEY)) == claim.token.encode()
    assert await cache.store(KEY, claim.token, ENTRY) == ENTRY
    assert await cache.read(KEY) == ENTRY
    assert await redis.exists(claim_key(KEY)) == 0


async def test_one_claims_and_the_others_wait_until_it_is_released(cache: VerdictCache) -> None:
    claims = await asyncio.gather(*(cache.claim(KEY) for _ in range(5)))
    assert sorted(claim.state for claim in claims) == [Claimed.CLAIMED, *[Claimed.WAIT] * 4]
    token = next(claim.token for claim in claims if claim.token)
    cache.release(KEY, "another's token")
    assert (await cache.claim(KEY)).state is Claimed.WAIT
    cache.release(KEY, token)
    assert (await cache.claim(KEY)).state is Claimed.CLAIMED


async def test_the_first_entry_stands(cache: VerdictCache) -> None:
    token = (await cache.claim(KEY)).token
    assert await cache.store(KEY, "of one whose claim had ended", OTHER) == OTHER
    assert await cache.store(KEY, token, ENTRY) == OTHER
    assert await cache.claim(KEY) == (Claimed.HIT, OTHER, "")


@pytest.mark.parametrize("corrupt", [b"", b"\xff\x00 cut", b"1 {"])
async def test_a_corrupt_entry_is_replaced_by_whoever_claims(cache: VerdictCache, redis: Redis, corrupt: bytes) -> None:
    await redis.set(KEY, corrupt)
    assert await cache.read(KEY) == corrupt
    claim = await cache.claim(KEY, corrupt=corrupt)
    assert claim.state is Claimed.CLAIMED
    assert await cache.store(KEY, claim.token, ENTRY) == ENTRY


async def test_an_entry_that_was_mended_meanwhile_is_a_hit(cache: VerdictCache, redis: Redis) -> None:
    await redis.set(KEY, ENTRY)
    assert (await cache.claim(KEY, corrupt=b"1 {")).value == ENTRY


async def test_another_type_at_the_key_is_a_miss_and_is_replaced(redis: Redis) -> None:
    counted = Counted()
    cache = cache_over(redis, counters=counted)
    await redis.hset(KEY, "a", "b")
    assert await cache.read(KEY) is None
    claim = await cache.claim(KEY)
    assert await cache.store(KEY, claim.token, ENTRY) == ENTRY
    assert await cache.read(KEY) == ENTRY
    assert counted.counts == {"cache_corrupt_entries": 1}


@pytest.mark.parametrize("kind", ["string", "hash"])
async def test_a_claim_without_an_end_holds_nobody_up(cache: VerdictCache, redis: Redis, kind: str) -> None:
    if kind == "hash":
        await redis.hset(claim_key(KEY), "a", "b")
    else:
        await redis.set(claim_key(KEY), "set by hand")
    claim = await cache.claim(KEY)
    assert claim.state is Claimed.CLAIMED
    assert await cache.store(KEY, claim.token, ENTRY) == ENTRY


async def test_every_entry_ends_and_not_all_in_the_same_hour(cache: VerdictCache, redis: Redis) -> None:
    keys = [verdict_key("ab" * 32, "bom-1", f"c{n}") for n in range(40)]
    await asyncio.gather(*(cache.store(key, "t", ENTRY) for key in keys))
    days = [await redis.pttl(key) / 1000 / 86_400 for key in keys]
    assert 27.0 <= min(days) < 29.0
    assert 31.0 < max(days) <= 33.0


async def test_a_living_holder_keeps_its_claim_and_a_dead_one_loses_it(redis: Redis) -> None:
    holder, waiter = cache_over(redis, claim_ttl_s=0.6), cache_over(redis, claim_ttl_s=0.6)
    assert (await holder.claim(KEY)).state is Claimed.CLAIMED
    await asyncio.sleep(0.8)  # renewed every 0.2 s: a busy machine may miss two of them
    assert (await waiter.claim(KEY)).state is Claimed.WAIT
    assert holder._renewing is not None
    holder._renewing.cancel()  # what a kill does
    async with asyncio.timeout(10):
        while (await waiter.claim(KEY)).state is not Claimed.CLAIMED:  # noqa: ASYNC110 - Redis tells nobody when one ends
            await asyncio.sleep(0.05)


async def test_a_holder_whose_claim_was_taken_over_does_not_end_the_new_one(redis: Redis) -> None:
    first, second = cache_over(redis), cache_over(redis)
    late = await first.claim(KEY)
    await redis.delete(claim_key(KEY))
    new = await second.claim(KEY)
    first.release(KEY, late.token)
    await first._scripts.drained()
    assert await redis.get(claim_key(KEY)) == new.token.encode()


async def test_400_lookups_of_one_tick_are_two_commands() -> None:
    sent: list[int] = []

    class Counting(fakeredis.FakeAsyncRedis):
        async def mget(self, keys: list[str]) -> Any:  # type: ignore[override]
            sent.append(len(keys))
            return await super().mget(keys)

    client = Counting()
    cache = cache_over(client)
    await client.set("k7", b"seven")
    answers = await asyncio.gather(*(cache.read(f"k{n % 300}") for n in range(400)))
    assert [n for n, answer in enumerate(answers) if answer] == [7, 307]
    assert sum(sent) <= 400
    assert len(sent) == 2


async def test_a_refused_connection_is_down_at_once_and_then_left_alone() -> None:
    counted = Counted()
    client = redis_client(f"redis://127.0.0.1:{free_port()}/0")
    cache = cache_over(client, counters=counted, breaker_period_s=60)
    for _ in range(3):
        with pytest.raises(CacheDown):
            await cache.read(KEY)
    with pytest.raises(CacheDown, match="left alone"):
        await cache.claim(KEY)
    cache.release(KEY, "token")
    assert counted.counts == {"cache_failures ConnectionError": 1}
    await cache.close()


async def test_a_redis_that_hangs_holds_work_up_once_and_is_used_again_when_it_is_back() -> None:
    hung = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await hung.wait()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    now = 0.0
    client = redis_client(f"redis://127.0.0.1:{port}/0", time_out_s=0.05)
    cache = cache_over(client, time_out_s=0.05, breaker_period_s=5, clock=lambda: now)
    loop = asyncio.get_running_loop()
    started = loop.time()
    for _ in range(100):
        with pytest.raises(CacheDown):
            await cache.read(KEY)
    assert 0.04 < loop.time() - started < 0.4

    cache._client = fakeredis.FakeAsyncRedis()
    now = 4.9
    with pytest.raises(CacheDown):
        await cache.read(KEY)
    now = 5.0
    answers = await asyncio.gather(*(cache.read(KEY) for _ in range(3)), return_exceptions=True)
    assert [type(answer) for answer in answers] == [type(None), CacheDown, CacheDown]  # one probe at a time
    assert await cache.read(KEY) is None
    await client.aclose()
    hung.set()
    server.close()


@pytest.mark.parametrize("url", ["", "http://x", "redis://:secret@h:port/0"])
def test_a_url_that_cannot_be_read_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(SettingsError, match="Redis URL") as caught:
        redis_client(url)
    assert "secret" not in str(caught.value)


@pytest.mark.real
async def test_tls_and_a_password_are_given_by_the_url(secure_redis: RealRedis) -> None:
    assert secure_redis.certificates is not None
    cache = cache_over(redis_client(f"{secure_redis.url}?ssl_ca_certs={secure_redis.certificates.ca}"))
    assert await cache.read(KEY) is None
    await cache.close()


@pytest.mark.real
async def test_a_redis_that_is_killed_is_left_alone_and_found_again(own_redis: RealRedis) -> None:
    cache = cache_over(redis_client(own_redis.url), breaker_period_s=0.05)
    await cache.store(KEY, "token", ENTRY)
    own_redis.kill()
    with pytest.raises(CacheDown):
        await cache.read(KEY)
    own_redis.start()
    await asyncio.sleep(0.06)
    assert await cache.read(KEY) is None
    assert await cache.store(KEY, "token", ENTRY) == ENTRY
    await cache.close()
