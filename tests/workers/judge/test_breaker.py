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


def test_it_opens_at_so_many_failures_in_a_row_and_a_success_starts_the_count_again() -> None:
    breaker = Breaker(period_s=5, failures=3)
    for now in (0.0, 1.0):
        breaker.failed(now)
    breaker.succeeded()
    for now in (2.0, 3.0):
        breaker.failed(now)
    assert breaker.closed
    breaker.failed(4.0)
    assert (breaker.closed, breaker.blocks(8.9), breaker.blocks(9.0)) == (False, True, False)


def test_every_probe_that_fails_doubles_the_wait_up_to_the_longest() -> None:
    breaker = Breaker(period_s=2, longest_s=10)
    breaker.failed(0.0)
    now, waits = 0.0, []
    for _ in range(5):
        start = now
        while not breaker.allows(now):
            now += 0.5
        waits.append(now - start)
        breaker.failed(now)
    assert waits == [2, 4, 8, 10, 10]
    assert breaker.allows(now + 10)
    breaker.succeeded()
    breaker.failed(100.0)
    assert not breaker.blocks(102.0)  # after a success the wait is the first one again


def test_a_probe_that_is_broken_off_makes_room_for_the_next() -> None:
    breaker = Breaker(period_s=5)
    breaker.failed(0.0)
    assert (breaker.allows(5.0), breaker.allows(5.0)) == (True, False)
    breaker.abandoned()
    assert breaker.allows(5.0)


def test_asking_whether_it_blocks_takes_no_probe() -> None:
    breaker = Breaker(period_s=5)
    breaker.failed(0.0)
    assert not any(breaker.blocks(5.0) for _ in range(3))
    assert breaker.allows(5.0)
