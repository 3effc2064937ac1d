"""Lets as many through as a limit allows, in the order in which they came. The limit may change at any time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable


class Turnstile:
    """``limit`` is asked for whenever somebody comes or leaves."""

    def __init__(self, limit: Callable[[], int]) -> None:
        self._limit = limit
        self._inside = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def inside(self) -> int:
        return self._inside

    async def enter(self, *, deadline: float) -> bool:
        """Waits for a place, which ``leave`` gives back. True when there was none at once.

        TimeoutError at the deadline, a moment on the loop's clock.
        """
        if not self._waiting and self._inside < self._limit():
            self._inside += 1
            return False
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            async with asyncio.timeout_at(deadline):
                await turn
        except BaseException:
            if turn.done() and not turn.cancelled():  # the place came together with the deadline: to the next one
                self.leave()
            else:
                turn.cancel()
                self._admit()
            raise
        return True

    def leave(self) -> None:
        self._inside -= 1
        self._admit()

    def _admit(self) -> None:
        while self._waiting and (self._waiting[0].done() or self._inside < self._limit()):
            turn = self._waiting.popleft()
            if not turn.done():
                self._inside += 1
                turn.set_result(None)
