"""How many calls an endpoint bears at the same time, found out as it is used: AIMD on 429 and on rising latency."""

from __future__ import annotations

from typing import Final

FALL_ON_429: Final = 0.5
FALL_ON_LATENCY: Final = 0.8
RISE_SHARE: Final = 0.02  # of the upper bound, for each round of calls: from the bottom to the top in 50 rounds
SLOWER: Final = 2.0  # smoothed latency against its floor, at which the limit falls
SLACK_S: Final = 0.5  # and by so many seconds at least: short calls jitter with our own event loop
SMOOTHING: Final = 0.1
FLOOR_PERIOD_S: Final = 60.0


class AdaptiveConcurrency:
    """The limit on calls in flight: at ``most`` to begin with, never below 1. ``now`` is in seconds and passed in.

    It falls at most once a round: a call that began before the last fall says nothing about the limit since. The floor
    is the least smoothed latency of the last one or two periods, so that a model which has become slower for good is
    not throttled for ever.
    """

    __slots__ = ("_fell_at", "_floor", "_floor_since", "_last_floor", "_limit", "_most", "_smoothed")

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = float(most)
        self._fell_at = float("-inf")
        self._smoothed: float | None = None
        self._floor = self._last_floor = float("inf")
        self._floor_since: float | None = None

    @property
    def limit(self) -> int:
        return int(self._limit)

    def answered(self, *, started: float, now: float) -> bool:
        """A call came back. True when it made the limit fall."""
        smoothed = self._observe(now - started, now)
        floor = min(self._floor, self._last_floor)
        if smoothed > max(SLOWER * floor, floor + SLACK_S):
            return self._fall(FALL_ON_LATENCY, started=started, now=now)
        self._limit = min(self._limit + max(RISE_SHARE * self._most, 1.0) / self._limit, float(self._most))
        return False

    def refused(self, *, started: float, now: float) -> bool:
        """The endpoint said 429. True when it made the limit fall."""
        return self._fall(FALL_ON_429, started=started, now=now)

    def timed_out(self, *, started: float, now: float) -> bool:
        """No answer in the time of an attempt: the slowest latency there is. True when it made the limit fall."""
        return self._fall(FALL_ON_LATENCY, started=started, now=now)

    def _fall(self, share: float, *, started: float, now: float) -> bool:
        if started < self._fell_at:
            return False
        self._limit = max(self._limit * share, 1.0)
        self._fell_at = now
        return True

    def _observe(self, latency_s: float, now: float) -> float:
        before = latency_s if self._smoothed is None else self._smoothed
        self._smoothed = smoothed = before + SMOOTHING * (latency_s - before)
        if self._floor_since is None or now - self._floor_since >= FLOOR_PERIOD_S:
            self._last_floor, self._floor, self._floor_since = self._floor, smoothed, now
        self._floor = min(self._floor, smoothed)
        return smoothed
