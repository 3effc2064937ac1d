"""How many calls an endpoint bears at the same time, found out as it is used: AIMD on 429 and on rising latency."""

from __future__ import annotations

from typing import Final

FALL_ON_429: Final = 0.5
FALL_ON_LATENCY: Final = 0.8
RISE_SHARE: Final = 0.02  # of the upper bound, for each round of calls: from the bottom to the top in 50 rounds
SLOWER: Final = 2.0  # mean latency of a round against its floor, at which the limit falls
SLACK_S: Final = 0.5  # and by so many seconds at least: short calls jitter with our own event loop
LEAST_ROUND: Final = 20
FLOOR_PERIOD_S: Final = 60.0


class AdaptiveConcurrency:
    """The limit on calls in flight: at ``most`` to begin with, never below 1. ``now`` is in seconds and passed in.

    Latencies are compared by the mean of a round (as many answers as the limit), since those of a model scatter widely;
    the first round is left out, for the fastest calls answer first. The floor is the least mean of the last one or two
    periods, so that a model which has become slower for good is not throttled for ever. A 429 makes the limit fall at
    most once a round: a call that began before the last fall says nothing about the limit since.
    """

    __slots__ = ("_answers", "_fell_at", "_floor", "_floor_since", "_last_floor", "_limit", "_most", "_seconds")

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = float(most)
        self._fell_at = float("-inf")
        self._answers, self._seconds = 0, 0.0
        self._floor = self._last_floor = float("inf")
        self._floor_since: float | None = None

    @property
    def limit(self) -> int:
        return int(self._limit)

    def answered(self, *, started: float, now: float) -> bool:
        """A call ended, with an answer or for want of one. True when it made the limit fall."""
        self._answers, self._seconds = self._answers + 1, self._seconds + now - started
        if self._answers >= max(self._limit, LEAST_ROUND) and self._round_is_slow(now):
            self._fall(FALL_ON_LATENCY, now)
            return True
        self._limit = min(self._limit + max(RISE_SHARE * self._most, 1.0) / self._limit, float(self._most))
        return False

    def refused(self, *, started: float, now: float) -> bool:
        """The endpoint said 429. True when it made the limit fall."""
        if started < self._fell_at:
            return False
        self._fall(FALL_ON_429, now)
        return True

    def _fall(self, share: float, now: float) -> None:
        self._limit = max(self._limit * share, 1.0)
        self._fell_at = now

    def _round_is_slow(self, now: float) -> bool:
        mean_s = self._seconds / self._answers
        self._answers, self._seconds = 0, 0.0
        if self._floor_since is None:
            self._floor_since = now
            return False
        if now - self._floor_since >= FLOOR_PERIOD_S:
            self._last_floor, self._floor, self._floor_since = self._floor, mean_s, now
        self._floor = min(self._floor, mean_s)
        floor = min(self._floor, self._last_floor)
        return mean_s > max(SLOWER * floor, floor + SLACK_S)
