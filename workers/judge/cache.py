"""The verdict cache in Redis: coalesced commands, claims across workers, a breaker so that it never holds work up."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar, cast

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from schemas.errors import AssayError, SettingsError
from workers.judge.breaker import Breaker
from workers.judge.cache_entry import claim_key
from workers.judge.coalescing import Coalescer
from workers.judge.protocols import Counters

Answer = TypeVar("Answer")

TIME_OUT_S = 0.5
BREAKER_PERIOD_S = 5.0
TTL_S = 30 * 24 * 3600.0
CLAIM_TTL_S = 6.0

_CLAIM = """
local kind = redis.call('TYPE', KEYS[1])['ok']
if kind == 'string' then
  local value = redis.call('GET', KEYS[1])
  if value ~= ARGV[3] then return {'hit', value} end
end
if kind ~= 'none' then redis.call('DEL', KEYS[1]) end
if redis.call('PTTL', KEYS[2]) == -1 then redis.call('DEL', KEYS[2]) end  -- not ours: claims end
if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then return {'claimed', kind} end
return {'wait', kind}
"""
_STORE = """
local stored = redis.call('SET', KEYS[1], ARGV[2], 'NX', 'PX', ARGV[3])
if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('DEL', KEYS[2]) end
if stored then return ARGV[2] end
return redis.call('GET', KEYS[1])
"""
_KEEP = """
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return ARGV[1] end
return redis.call('GET', KEYS[1])
"""
_RELEASE = "if redis.call('GET', KEYS[2]) == ARGV[1] then return redis.call('DEL', KEYS[2]) end return 0"
_RENEW = "if redis.call('GET', KEYS[2]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[2], ARGV[2]) end return 0"


class CacheDown(AssayError):
    """Redis did not answer, or is being left alone. Never leaves the judge: it goes on without its cache."""


class Claimed(StrEnum):
    HIT = "hit"  # somebody has stored the verdict
    CLAIMED = "claimed"  # the caller judges it
    WAIT = "wait"  # somebody else is judging it


class Claim(NamedTuple):
    state: Claimed
    value: bytes = b""  # of a hit
    token: str = ""  # of what was claimed: only its holder can release it


class _Script(NamedTuple):
    text: str
    key: str
    arguments: tuple[str | bytes | int, ...]


def redis_client(url: str, *, max_connections: int = 16, time_out_s: float = TIME_OUT_S, repeats: bool = True) -> Redis:
    """A client whose pool waits for a free connection instead of raising. TLS (``rediss://``) and password by URL.

    ``repeats`` is False for commands that may not run twice.
    """
    try:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=max_connections,
            timeout=time_out_s,
            socket_timeout=time_out_s,
            socket_connect_timeout=time_out_s,
            # Once more, at once, on a connection that the server closed while it was idle; the breaker does the rest.
            retry=Retry(NoBackoff(), int(repeats), (RedisConnectionError,)),
        )
    except ValueError as error:  # not quoted: the URL may hold a password
        raise SettingsError("the Redis URL cannot be read; use redis://, rediss:// or unix://") from error
    return Redis.from_pool(pool)


class VerdictCache:
    """Raw entries by key. Every method raises CacheDown when Redis does not answer within ``time_out_s``.

    The first failure opens the breaker, so that Redis holds work up once per ``breaker_period_s`` at most. ``clock`` is
    the event loop's. Claims of a living holder are renewed; those of a dead one end after ``claim_ttl_s``.
    """

    def __init__(
        self,
        client: Redis,
        *,
        counters: Counters,
        clock: Callable[[], float],
        rng: random.Random,
        ttl_s: float = TTL_S,
        claim_ttl_s: float = CLAIM_TTL_S,
        time_out_s: float = TIME_OUT_S,
        breaker_period_s: float = BREAKER_PERIOD_S,
    ) -> None:
        self._client, self._counters, self._clock, self._rng = client, counters, clock, rng
        self._ttl_s, self._claim_ttl_s, self._time_out_s = ttl_s, claim_ttl_s, time_out_s
        self._breaker = Breaker(period_s=breaker_period_s)
        self._reads: Coalescer[tuple[str, ...], list[bytes | None]] = Coalescer(self._read_together)
        self._scripts: Coalescer[_Script, Any] = Coalescer(self._run_together)
        self._held: dict[str, str] = {}
        self._renewing: asyncio.Task[None] | None = None

    async def read(self, key: str) -> bytes | None:
        """The entry, or None."""
        (entry,) = await self.read_all((key,))
        return entry

    async def read_all(self, keys: tuple[str, ...]) -> list[bytes | None]:
        """The entry of each key, or None. All reads of one tick travel as one MGET."""
        self._check()
        return await self._reads.submit(keys)

    def ask(self, key: str) -> asyncio.Future[list[bytes | None]] | None:
        """``read`` for whoever wants the answer later, or perhaps not at all; None while Redis is left alone."""
        if not self._breaker.closed:
            return None
        asked = self._reads.submit((key,))
        asked.add_done_callback(_heard)
        return asked

    async def keep(self, key: str, entry: bytes, *, ttl_s: float) -> bytes:
        """Keeps the entry unless there is one already, and returns the one that stands: the first."""
        return cast("bytes", await self._run(_KEEP, key, entry, int(ttl_s * 1000)))

    async def claim(self, key: str, *, corrupt: bytes = b"") -> Claim:
        """The entry when there is one, else the right to judge it, else the advice to wait.

        ``corrupt`` is what the caller read and could not use; that, or anything at the key that is no string, is
        removed on the way.
        """
        token = secrets.token_hex(8)
        state, value = await self._run(_CLAIM, key, token, self._claim_ttl_ms, corrupt)
        claimed = Claimed(state.decode())
        if claimed is Claimed.HIT:
            return Claim(claimed, value=value)
        if value not in {b"none", b"string"}:
            self._counters.count("cache_corrupt_entries")
        if claimed is Claimed.WAIT:
            return Claim(claimed)
        self._hold(key, token)
        return Claim(claimed, token=token)

    async def store(self, key: str, token: str, entry: bytes) -> bytes:
        """Stores unless there is an entry already, ends the claim, and returns the entry that stands: the first one."""
        self._held.pop(key, None)
        ttl_ms = int(self._ttl_s * 1000 * self._rng.uniform(0.9, 1.1))  # entries of one hour do not all end in another
        return cast("bytes", await self._run(_STORE, key, token, entry, ttl_ms))

    def release(self, key: str, token: str) -> None:
        """Ends a claim without a verdict, soon; does not wait, since it is called while being cancelled too."""
        self._held.pop(key, None)
        if token and self._breaker.closed:
            released = self._scripts.submit(_Script(_RELEASE, key, (token,)))
            released.add_done_callback(_heard)

    async def close(self) -> None:
        """Lets what was submitted go out, then closes the client."""
        if self._renewing is not None:
            self._renewing.cancel()
        await self._reads.drained()
        await self._scripts.drained()
        await self._client.aclose()

    def _check(self) -> None:
        if not self._breaker.closed and not self._breaker.allows(self._clock()):
            raise CacheDown("left alone after a failure")

    async def _run(self, text: str, key: str, *arguments: str | bytes | int) -> Any:
        self._check()
        return await self._scripts.submit(_Script(text, key, arguments))

    async def _read_together(self, asked: list[tuple[str, ...]]) -> Sequence[list[bytes | None]]:
        distinct = list(dict.fromkeys(key for keys in asked for key in keys))
        values = await self._round_trip(self._client.mget(distinct))
        found = dict(zip(distinct, cast("list[bytes | None]", values), strict=True))
        return [[found[key] for key in keys] for keys in asked]

    async def _run_together(self, scripts: list[_Script]) -> Sequence[Any]:
        pipeline = self._client.pipeline(transaction=False)
        for text, key, arguments in scripts:
            pipeline.eval(text, 2, key, claim_key(key), *arguments)
        return await self._round_trip(pipeline.execute())

    async def _round_trip(self, work: Awaitable[Answer]) -> Answer:
        try:
            async with asyncio.timeout(self._time_out_s):
                answer = await work
        except (RedisError, OSError, TimeoutError) as error:
            self._breaker.failed(self._clock())
            self._counters.count("cache_failures", error=type(error).__name__)
            raise CacheDown(type(error).__name__) from error
        self._breaker.succeeded()
        return answer

    @property
    def _claim_ttl_ms(self) -> int:
        return int(self._claim_ttl_s * 1000)

    def _hold(self, key: str, token: str) -> None:
        self._held[key] = token
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.create_task(self._renew_while_held())

    async def _renew_while_held(self) -> None:
        """A call may take a minute; a claim that lasted as long would stall every other worker when its holder dies."""
        while self._held:
            await asyncio.sleep(self._claim_ttl_s / 3)
            renewals = [self._run(_RENEW, key, token, self._claim_ttl_ms) for key, token in self._held.items()]
            await asyncio.gather(*renewals, return_exceptions=True)


def _heard(done: asyncio.Future[Any]) -> None:
    """Nobody may be waiting for this any more: what it failed of has been counted."""
    if not done.cancelled():
        done.exception()
