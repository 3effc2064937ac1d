"""What all judges that ask one endpoint share: its rates, how many calls it bears, and whether it is broken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from schemas.errors import ModelError
from schemas.verdict_space import Cause
from workers.judge.breaker import Breaker
from workers.judge.limits.concurrency import AdaptiveConcurrency
from workers.judge.limits.rate import Rate
from workers.judge.limits.turnstile import Turnstile
from workers.judge.protocols import Counters

FAILURES_IN_A_ROW: Final = 10
FIRST_OPEN_S: Final = 2.0
LONGEST_OPEN_S: Final = 60.0
LONGEST_HOLD_S: Final = 60.0
"""A Retry-After keeps everybody waiting for so long at most: one wrong header must not stop a worker for a day."""

_BROKEN = frozenset({Cause.UNREACHABLE, Cause.CONNECTION_LOST, Cause.PROVIDER_ERROR, Cause.TIMEOUT})


@dataclass(frozen=True, slots=True)
class Allowance:
    """What an endpoint's owner grants this worker; None = no limit but the calls in flight."""

    max_in_flight: int
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


class EndpointLimits:
    """One for each endpoint of a worker. ``now`` is the event loop's clock, in seconds.

    Failures are those of the endpoint: no connection, a broken one, 5xx, no answer in the whole time of an attempt. A
    429, a wrong key or a refusal is an answer.
    """

    def __init__(self, name: str, allowance: Allowance, *, counters: Counters) -> None:
        self.name = name
        self.requests = Rate(allowance.requests_per_minute)
        self.tokens = Rate(allowance.tokens_per_minute)
        self.concurrency = AdaptiveConcurrency(allowance.max_in_flight)
        self.turnstile = Turnstile(lambda: self.concurrency.limit)
        self.breaker = Breaker(period_s=FIRST_OPEN_S, failures=FAILURES_IN_A_ROW, longest_s=LONGEST_OPEN_S)
        self._counters = counters
        self._broken_by = Cause.PROVIDER_ERROR

    @property
    def broken(self) -> bool:
        """True from the failure that opened the breaker to the first success."""
        return not self.breaker.closed

    def left_alone(self) -> ModelError:
        """What is said to whoever would ask a broken endpoint: at once, and without a call."""
        self.withheld("breaker")
        cause = Cause.UNREACHABLE if self._broken_by is Cause.UNREACHABLE else Cause.PROVIDER_ERROR
        return ModelError(cause, f"the endpoint is left alone after {self._broken_by}", calls=0)

    def withheld(self, why: str) -> None:
        self._counters.count("model_calls_withheld", endpoint=self.name, why=why)

    def waited(self, why: str, seconds: float) -> None:
        self._counters.count("model_waits", endpoint=self.name, why=why)
        self._counters.count("model_wait_seconds", seconds, endpoint=self.name, why=why)

    def answered(self, *, started: float, now: float) -> None:
        self._mended()
        if self.concurrency.answered(started=started, now=now):
            self._throttled("latency")

    def failed(self, error: ModelError, *, started: float, now: float, patience_s: float) -> None:
        """A call failed; ``patience_s`` is the time that an attempt has: one cut off earlier proves nothing."""
        if error.cause is Cause.TIMEOUT and now - started < 0.9 * patience_s:
            self.breaker.abandoned()
        elif error.cause in _BROKEN:
            self._broke(error.cause, now)
        else:
            self._mended()
        if error.cause is Cause.RATE_LIMITED:
            self.requests.hold(now + min(error.retry_after_s or 0.0, LONGEST_HOLD_S))
            if self.concurrency.refused(started=started, now=now):
                self._throttled("rate_limited")
        elif error.cause is Cause.TIMEOUT and self.concurrency.answered(started=started, now=now):
            self._throttled("latency")

    def _broke(self, cause: Cause, now: float) -> None:
        before = self.breaker.closed
        self._broken_by = cause
        self.breaker.failed(now)
        if before and self.broken:
            self._counters.count("breaker_changes", endpoint=self.name, to="open")

    def _mended(self) -> None:
        if self.broken:
            self._counters.count("breaker_changes", endpoint=self.name, to="closed")
        self.breaker.succeeded()

    def _throttled(self, cause: str) -> None:
        self._counters.count("model_throttled", endpoint=self.name, cause=cause)
