"""The same sums in Redis, so that all workers together keep the caps. Without Redis each worker keeps them alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from workers.judge.breaker import Breaker
from workers.judge.limits.spending import Charge
from workers.judge.protocols import Counters

TIME_OUT_S: Final = 0.5
LEFT_ALONE_S: Final = 5.0
FLUSH_AFTER_S: Final = 0.05

_TAKE: Final = """
for i = 1, #KEYS do
  if ARGV[i * 4] ~= '0' then
    redis.call('INCRBY', KEYS[i], ARGV[i * 4]) redis.call('EXPIRE', KEYS[i], ARGV[i * 4 - 1])
  end
end
for i = 1, #KEYS do
  local cap = tonumber(ARGV[i * 4 - 2])
  if cap >= 0 and tonumber(redis.call('GET', KEYS[i]) or '0') + tonumber(ARGV[i * 4 - 3]) > cap then return 0 end
end
for i = 1, #KEYS do
  if ARGV[i * 4 - 3] ~= '0' then
    redis.call('INCRBY', KEYS[i], ARGV[i * 4 - 3]) redis.call('EXPIRE', KEYS[i], ARGV[i * 4 - 1])
  end
end
return 1
"""
"""Per key: amount, cap (-1: none), seconds to keep, and what is owed from before. Atomic: Redis runs one at a time."""


class SharedSpending:
    """One for a worker. ``clock`` is the event loop's. The client must not repeat commands by itself.

    While Redis does not answer, everything is granted (the caller's own ledger still holds) and written down as owed:
    the first take that gets through brings it in. A worker that is killed leaves its calls in flight charged at the
    most they can cost.
    """

    def __init__(
        self, client: Redis, *, counters: Counters, clock: Callable[[], float], prefix: str = "assay:"
    ) -> None:
        self._client, self._counters, self._clock, self._prefix = client, counters, clock, prefix
        self._breaker = Breaker(period_s=LEFT_ALONE_S)
        self._owed: dict[str, tuple[int, int]] = {}  # meter -> amount, seconds to keep
        self._flushing: asyncio.Task[None] | None = None

    async def take(self, charges: Sequence[Charge]) -> bool:
        running = asyncio.ensure_future(self._run(charges))
        try:
            granted = await asyncio.shield(running)
        except asyncio.CancelledError:
            running.add_done_callback(lambda done: self._give_back(charges) if done.result() else None)
            raise
        if granted is None:
            for charge in charges:
                self.add(charge, charge.amount)
        return granted is not False

    def add(self, charge: Charge, amount: int) -> None:
        """More, or less, on a charge's meter, soon: with the next take, or by itself after a moment."""
        self._owe(charge.meter, amount, charge.kept_s)
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush_soon())

    async def close(self) -> None:
        if self._flushing is not None:
            await self._flushing
        await self._client.aclose()

    async def _flush_soon(self) -> None:
        await asyncio.sleep(FLUSH_AFTER_S)
        await self._run(())

    def _give_back(self, charges: Sequence[Charge]) -> None:
        for charge in charges:
            self.add(charge, -charge.amount)

    def _owe(self, meter: str, amount: int, kept_s: int) -> None:
        self._owed[meter] = (self._owed.get(meter, (0, 0))[0] + amount, kept_s)

    async def _run(self, charges: Sequence[Charge]) -> bool | None:
        """Whether all charges fitted; None when Redis did not answer."""
        if not charges and not self._owed:
            return True
        if not self._breaker.allows(self._clock()):
            return None
        owed, self._owed = self._owed, {}
        try:
            granted = await self._asked(charges, owed)
        except (RedisError, OSError, TimeoutError) as error:
            self._breaker.failed(self._clock())
            self._counters.count("spending_failures", error=type(error).__name__)
            for meter, (amount, kept_s) in owed.items():
                if amount > 0:  # it may have got through: money given back twice would be spent twice
                    self._owe(meter, amount, kept_s)
            return None
        self._breaker.succeeded()
        return granted

    async def _asked(self, charges: Sequence[Charge], owed: dict[str, tuple[int, int]]) -> bool:
        rows = {meter: (0, -1, kept_s, amount) for meter, (amount, kept_s) in owed.items()}
        rows |= {c.meter: (c.amount, c.cap, c.kept_s, owed.get(c.meter, (0, 0))[0]) for c in charges}
        keys = [f"{self._prefix}spent:{meter}" for meter in rows]
        values = [str(value) for row in rows.values() for value in row]
        asked: Awaitable[Any] = self._client.eval(_TAKE, len(keys), *keys, *values)
        async with asyncio.timeout(TIME_OUT_S):
            return bool(await asked)
