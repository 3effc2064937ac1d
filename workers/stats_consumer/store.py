"""Counts, open joins, offsets and what is still to be published: one Redis hash, written in one atomic step.

One hash, so that Redis keeps or loses everything together: half a state would be wrong counts. Rows are written with
their whole value, so that a step whose answer was lost can be taken again. The epoch in the hash belongs to one worker:
when another has taken over, the step of the older one fails. The layout says which version wrote the rows.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Mapping
from typing import cast

from redis.asyncio import Redis
from redis.exceptions import RedisError, WatchError

from schemas.errors import AssayError, DependencyUnavailable, FatalError
from workers.runtime.logs import event

Rows = Mapping[str, bytes | None]

LAYOUT = b"1"
"""Raised whenever rows that the version before wrote can no longer be read."""

_EPOCH, _LAYOUT = "epoch", "layout"
_CHUNK = 5_000  # fields of one command


class StateLost(AssayError):
    """Redis has lost the hash while the worker ran. It is written again, whole, from memory."""


class StatsStore:
    """``name`` is the hash's key. ``claim`` comes first; it makes every older claim's ``save`` fail."""

    def __init__(self, redis: Redis, *, name: str, lease_s: float = 15.0) -> None:
        self._redis, self._name, self._lease_s = redis, name, lease_s
        self._token = secrets.token_hex(8)
        self._epoch = b""

    async def lease(self) -> bool:
        """Become, or stay, the one worker that counts. False while another one is."""
        try:
            key, ms = f"{self._name}:lease", int(self._lease_s * 1000)
            if await self._redis.set(key, self._token, nx=True, px=ms):
                return True
            held = await self._redis.get(key) == self._token.encode()
            # Should the lease end between these two lines, the epoch still keeps two workers apart.
            return held and bool(await self._redis.pexpire(key, ms))
        except RedisError as error:
            raise _unavailable(error) from error

    async def leave(self) -> None:
        """Let a waiting worker in at once instead of after the lease."""
        try:
            key = f"{self._name}:lease"
            if await self._redis.get(key) == self._token.encode():
                await self._redis.delete(key)
        except RedisError as error:
            raise _unavailable(error) from error

    async def claim(self) -> dict[str, bytes]:
        """All rows, and the right to write them. Empty when Redis has none: then everything is read again.

        Rows of another layout are dropped, and everything is read again as well.
        """
        try:
            self._epoch = str(await self._redis.hincrby(self._name, _EPOCH, 1)).encode()
            # In pieces: a whole hash in one reply holds Redis up. From here on nobody else can write to it.
            found = {name: row async for name, row in self._redis.hscan_iter(self._name, count=_CHUNK)}
            epoch = await cast(Awaitable[bytes | None], self._redis.hget(self._name, _EPOCH))
        except RedisError as error:
            raise _unavailable(error) from error
        if epoch != self._epoch:
            raise FatalError("another stats worker took over while this one started")
        rows = {name.decode(): row for name, row in found.items()}
        del rows[_EPOCH]
        if rows.pop(_LAYOUT, None) == LAYOUT:
            return rows
        if rows:
            event("counts_of_another_version_dropped", level=logging.WARNING, rows=len(rows))
        await self._step({**dict.fromkeys(rows), _LAYOUT: LAYOUT}, expected=self._epoch)
        return {}

    async def save(self, rows: Rows) -> None:
        """Write and delete all of these, or nothing.

        Raises StateLost when the hash is gone, FatalError when another worker has claimed it, DependencyUnavailable
        when Redis does not answer: then it is unknown whether the step was taken, and it may be taken again.
        """
        await self._step(rows, expected=self._epoch)

    async def restore(self, rows: Rows) -> None:
        """Write everything again after StateLost."""
        await self._step({**rows, _EPOCH: self._epoch, _LAYOUT: LAYOUT}, expected=None)

    async def _step(self, rows: Rows, *, expected: bytes | None) -> None:
        written = [(name, row) for name, row in rows.items() if row is not None]
        deleted = [name for name, row in rows.items() if row is None]
        try:
            async with self._redis.pipeline(transaction=True) as step:
                await step.watch(self._name)
                self._check(await cast(Awaitable[bytes | None], step.hget(self._name, _EPOCH)), expected)
                step.multi()  # type: ignore[no-untyped-call]
                for at in range(0, len(written), _CHUNK):
                    step.hset(self._name, mapping=dict(written[at : at + _CHUNK]))
                for at in range(0, len(deleted), _CHUNK):
                    step.hdel(self._name, *deleted[at : at + _CHUNK])
                await step.execute()
        except WatchError:
            await self._step(rows, expected=expected)  # somebody was there: the check says who
        except (RedisError, OSError, TimeoutError) as error:
            raise _unavailable(error) from error

    def _check(self, found: bytes | None, expected: bytes | None) -> None:
        if found == expected:
            return
        if found is None:
            raise StateLost("Redis has lost the counts")
        raise FatalError("another stats worker has taken over")


def _unavailable(error: BaseException) -> DependencyUnavailable:
    return DependencyUnavailable(f"the counts' Redis does not answer: {type(error).__name__}")
