"""When to leave a broken service alone, and when to try it again."""

from __future__ import annotations


class Breaker:
    """Opens at ``failures`` in a row; after ``period_s`` one probe at a time may try. ``now`` is in seconds, passed in.

    The period doubles with every probe that fails, up to ``longest_s`` (as long as the first, unless said otherwise).
    """

    __slots__ = ("_failures", "_in_a_row", "_longest_s", "_open_until", "_period_s", "_probing", "_wait_s")

    def __init__(self, *, period_s: float, failures: int = 1, longest_s: float | None = None) -> None:
        self._period_s, self._longest_s, self._failures = period_s, longest_s or period_s, failures
        self._wait_s = period_s
        self._in_a_row = 0
        self._open_until: float | None = None
        self._probing = False

    @property
    def closed(self) -> bool:
        return self._open_until is None

    def blocks(self, now: float) -> bool:
        """Would the caller be sent away? Asking changes nothing."""
        return self._open_until is not None and (self._probing or now < self._open_until)

    def allows(self, now: float) -> bool:
        """May the caller try? Whoever is allowed says afterwards how it went, or that it came to nothing."""
        if self.blocks(now):
            return False
        self._probing = not self.closed
        return True

    def succeeded(self) -> None:
        self._open_until, self._probing = None, False
        self._in_a_row, self._wait_s = 0, self._period_s

    def failed(self, now: float) -> None:
        if self._probing:
            self._wait_s = min(self._wait_s * 2, self._longest_s)
        self._in_a_row += 1
        if not self.closed or self._in_a_row >= self._failures:
            self._open_until, self._probing = now + self._wait_s, False

    def abandoned(self) -> None:
        """The try was broken off and says nothing: another probe may follow at once."""
        self._probing = False
