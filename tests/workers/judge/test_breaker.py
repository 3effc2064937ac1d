from __future__ import annotations

from workers.judge.breaker import Breaker


def test_a_breaker_that_never_saw_a_failure_lets_everything_through() -> None:
    breaker = Breaker(period_s=5)
    assert breaker.closed
    assert [breaker.allows(now) for now in (0, 0, 100)] == [True, True, True]


def test_after_a_failure_one_probe_a_period_is_let_through() -> None:
    breaker = Breaker(period_s=5)
    breaker.failed(10.0)
    assert [breaker.allows(now) for now in (10.0, 14.9, 15.0, 15.0, 99.0)] == [False, False, True, False, False]
    breaker.failed(15.5)
    assert [breaker.allows(now) for now in (20.4, 20.5, 20.6)] == [False, True, False]


def test_a_probe_that_succeeds_closes_it() -> None:
    breaker = Breaker(period_s=5)
    breaker.failed(10.0)
    assert breaker.allows(15.0)
    breaker.succeeded()
    assert breaker.closed
    assert all(breaker.allows(15.1) for _ in range(3))
