from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import fakeredis
import pytest
from redis.asyncio import Redis

from tests.services.redis_server import fake_redis_over_tcp, real_redis
from workers.judge.cache import redis_client


@pytest.fixture(scope="session")
def fake_url() -> Iterator[str]:
    with fake_redis_over_tcp() as url:
        yield url


@pytest.fixture(scope="session")
def real_url() -> Iterator[str]:
    with real_redis() as url:
        if url is None:
            pytest.skip("no real Redis: install redis-server or name one in ASSAY_TEST_REDIS")
        yield url


@pytest.fixture(params=["in process", "over tcp", pytest.param("real", marks=pytest.mark.real)])
async def redis(request: pytest.FixtureRequest, anyio_backend: str) -> AsyncIterator[Redis]:
    """The three kinds of Redis that the cache must work the same on."""
    client: Redis
    match request.param:
        case "in process":
            client = fakeredis.FakeAsyncRedis()
        case "over tcp":
            client = redis_client(request.getfixturevalue("fake_url"))
        case _:
            client = redis_client(request.getfixturevalue("real_url"))
    await client.flushdb()
    yield client
    await client.aclose()
