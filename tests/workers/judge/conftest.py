from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator

import fakeredis
import pytest
from redis.asyncio import Redis

from tests.services.process import free_port
from workers.judge.cache import redis_client


@pytest.fixture(scope="session")
def fake_url() -> Iterator[str]:
    """fakeredis behind a real port, as the embedded services run it."""
    port = free_port()
    server = fakeredis.TcpFakeServer(("127.0.0.1", port))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"redis://127.0.0.1:{port}/0"
    server.shutdown()
    server.server_close()
    thread.join(timeout=5)


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
            client = redis_client(request.getfixturevalue("real_redis"))
    await client.flushdb()
    yield client
    await client.aclose()
