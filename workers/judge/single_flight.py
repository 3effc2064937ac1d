"""One run for all who want the same thing at the same time, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class SingleFlight(Generic[Result]):
    """Runs once per key; everyone who comes while it runs gets its result.

    A waiter that is cancelled takes nobody else's result away; when the last one is gone the run is cancelled.
    """

    def __init__(self) -> None:
        self._flights: dict[str, _Flight[Result]] = {}

    async def run(
        self, key: str, start: Callable[[], Coroutine[Any, Any, Result]], *, deadline: float
    ) -> tuple[Result, bool]:
        """The result, and whether the caller joined a run of somebody else's.

        ``start`` bounds itself in time. Whoever joins raises TimeoutError at their own ``deadline``.
        """
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.create_task(start()))
            flight.task.add_done_callback(lambda _, started=flight: self._forget(key, started))  # type: ignore[misc]
            return await self._join(key, flight, until=None), False
        return await self._join(key, flight, until=deadline), True

    async def _join(self, key: str, flight: _Flight[Result], *, until: float | None) -> Result:
        flight.waiters += 1
        try:
            async with asyncio.timeout_at(until):
                return await asyncio.shield(flight.task)
        finally:
            flight.waiters -= 1
            if not flight.waiters and not flight.task.done():
                self._forget(key, flight)  # at once: nobody may join what is being cancelled
                flight.task.cancel()

    def _forget(self, key: str, flight: _Flight[Result]) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]


class _Flight(Generic[Result]):
    __slots__ = ("task", "waiters")

    def __init__(self, task: asyncio.Task[Result]) -> None:
        self.task, self.waiters = task, 0
