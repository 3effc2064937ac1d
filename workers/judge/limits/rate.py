"""So much a minute: a token bucket that says how long to wait, and never takes more than it gives."""

from __future__ import annotations

from typing import Final

MINUTE_S: Final = 60.0
BURST_SHARE: Final = 0.1
"""This share of a minute's amount may go at once, the rest evenly: together never more than the limit in any minute."""


class Rate:
    """Moments of one rate limit; ``now`` is in seconds and passed in. Without a limit nothing ever waits.

    The bucket is kept as the moment at which it would be full again (virtual scheduling, ITU-T I.371). What is taken is
    owed at once, in the order of asking, so that nobody overtakes.
    """

    __slots__ = ("_burst", "_full_at", "_held_until", "_per_s")

    def __init__(self, per_minute: float | None) -> None:
        self._per_s = None if per_minute is None else (1 - BURST_SHARE) * per_minute / MINUTE_S
        self._burst = 0.0 if per_minute is None else BURST_SHARE * per_minute
        self._full_at = self._held_until = float("-inf")

    def take(self, amount: float, now: float, *, longest_s: float) -> float | None:
        """Seconds to wait before going on; None, and nothing is taken, where that is more than ``longest_s``.

        An amount above the burst waits until the bucket is full, and then goes as a whole.
        """
        wait_s = max(self._held_until - now, 0.0)
        if self._per_s is not None:
            room_s = max(self._burst - amount, 0.0) / self._per_s
            wait_s = max(wait_s, self._full_at - room_s - now)
        if wait_s > longest_s:
            return None
        self.owe(amount, now)
        return wait_s

    def owe(self, amount: float, now: float) -> None:
        """Takes more (or, below 0, gives back) without waiting: what a call really used."""
        if self._per_s is not None:
            self._full_at = max(self._full_at, now) + amount / self._per_s

    def hold(self, until: float) -> None:
        """Nobody goes before this moment: the provider has asked for patience."""
        self._held_until = max(self._held_until, until)
