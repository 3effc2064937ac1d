"""When to leave a broken service alone, and when to try it again."""

from __future__ import annotations


class Breaker:
    """Opens at the first failure; after ``period_s`` one probe at a time may try. ``now`` is in seconds, passed in."""

    __slots__ = ("_open_until", "_period_s", "_probing")

    def __init__(self, *, period_s: float) -> None:
        self._period_s = period_s
        self._open_until: float | None = None
        self._probing = False

    @property
    def closed(self) -> bool:
        return self._open_until is None

    def allows(self, now: float) -> bool:
        """May the caller try? Whoever is allowed says afterwards how it went."""
        if self._open_until is None:
            return True
        if self._probing or now < self._open_until:
            return False
        self._probing = True
        return True

    def succeeded(self) -> None:
        self._open_until, self._probing = None, False

    def failed(self, now: float) -> None:
        self._open_until, self._probing = now + self._period_s, False
