"""The store: all of a step or nothing, one writer, and a Redis that forgets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from redis.asyncio import Redis

from schemas.errors import DependencyUnavailable, FatalError
from workers.embedded.services import ChildServices
from workers.runtime.records import OutRecord
from workers.stats_consumer.outbox import Outbox
from workers.stats_consumer.store import LAYOUT, StateLost, StatsStore


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Redis]:
    redis = Redis.from_url(url)
    try:
        yield redis
    finally:
        await redis.aclose()


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.real)])
def redis_url(request: pytest.FixtureRequest) -> str:
    if request.param == "real":
        return str(request.getfixturevalue("real_redis"))
    services: ChildServices = request.getfixturevalue("services")
    return services.redis


@pytest.mark.anyio
async def test_what_was_saved_is_there_for_the_next_claim(redis_url: str, unique: Callable[[str], str]) -> None:
    async with connected(redis_url) as redis:
        name = unique("stats")
        store = StatsStore(redis, name=name)
        assert await store.claim() == {}
        await store.save({"c|1": b"one", "c|2": b"two"})
        await store.save({"c|1": None, **{f"r|{i}": b"x" for i in range(11_000)}})
        rows = await StatsStore(redis, name=name).claim()
        assert "c|1" not in rows
        assert (rows["c|2"], len(rows)) == (b"two", 11_001)


@pytest.mark.anyio
async def test_an_overtaken_worker_cannot_write(redis_url: str, unique: Callable[[str], str]) -> None:
    async with connected(redis_url) as redis:
        name = unique("stats")
        older, newer = StatsStore(redis, name=name), StatsStore(redis, name=name)
        await older.claim()
        await newer.claim()
        with pytest.raises(FatalError, match="taken over"):
            await older.save({"c": b"1"})
        await newer.save({"c": b"2"})
        assert await redis.hget(name, "c") == b"2"


@pytest.mark.anyio
async def test_a_lost_hash_is_noticed_and_written_again_whole(redis_url: str, unique: Callable[[str], str]) -> None:
    async with connected(redis_url) as redis:
        name = unique("stats")
        store = StatsStore(redis, name=name)
        await store.claim()
        await store.save({"c|1": b"one"})
        await redis.delete(name)
        with pytest.raises(StateLost):
            await store.save({"c|2": b"two"})
        assert not await redis.exists(name)
        await store.restore({"c|1": b"one", "c|2": b"two"})
        await store.save({"c|3": b"three"})
        assert sorted(await StatsStore(redis, name=name).claim()) == ["c|1", "c|2", "c|3"]


@pytest.mark.anyio
@pytest.mark.parametrize("layout", [b"0", None])
async def test_rows_that_another_version_wrote_are_dropped_and_counted_again(
    redis_url: str, unique: Callable[[str], str], layout: bytes | None
) -> None:
    async with connected(redis_url) as redis:
        name = unique("stats")
        store = StatsStore(redis, name=name)
        await store.claim()
        await store.save({"a|1": b"[]", **{f"r|{i}": b"x" for i in range(5_001)}})
        await (redis.hset(name, "layout", layout) if layout else redis.hdel(name, "layout"))  # type: ignore[arg-type, misc]
        newer = StatsStore(redis, name=name)
        assert await newer.claim() == {}
        assert await redis.hgetall(name) == {b"epoch": b"2", b"layout": LAYOUT}  # type: ignore[misc]
        with pytest.raises(FatalError, match="taken over"):
            await store.save({"a|2": b"[]"})
        await newer.save({"a|3": b"[]"})
        assert await StatsStore(redis, name=name).claim() == {"a|3": b"[]"}


@pytest.mark.anyio
async def test_one_worker_has_the_lease_until_it_leaves(redis_url: str, unique: Callable[[str], str]) -> None:
    async with connected(redis_url) as redis:
        name = unique("stats")
        first, second = StatsStore(redis, name=name), StatsStore(redis, name=name)
        assert [await first.lease(), await first.lease(), await second.lease()] == [True, True, False]
        await second.leave()  # not its own
        assert not await second.lease()
        await first.leave()
        assert await second.lease()


@pytest.mark.anyio
async def test_a_redis_that_does_not_answer_is_a_dependency() -> None:
    async with connected("redis://127.0.0.1:1/0") as redis:
        store = StatsStore(redis, name="x")
        for ask in (store.lease, store.claim, lambda: store.save({"c": b"1"})):
            with pytest.raises(DependencyUnavailable):
                await ask()


def test_the_outbox_keeps_order_and_bytes_over_a_restart_and_empties_when_sent() -> None:
    outs = [OutRecord("t", b"\xff", b"\x00\x01", (("h", b"v"), ("n", None))), OutRecord("t", None, b"2")]
    box = Outbox()
    box.put(outs)
    saved = {name: row for name, row in box.changes().items() if row is not None}
    again = Outbox({**saved, "c|other": b"x"})
    assert again.waiting() == outs
    again.put(outs[:1])
    again.sent()
    assert again.waiting() == []
    assert set(again.changes().values()) == {None}
