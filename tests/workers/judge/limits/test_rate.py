from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.judge.limits.rate import Rate


def test_without_a_limit_nothing_waits() -> None:
    rate = Rate(None)
    assert [rate.take(10_000, 0.0, longest_s=0.0) for _ in range(5)] == [0.0] * 5


def test_a_tenth_goes_at_once_and_the_rest_evenly() -> None:
    # by hand: 60 a minute = 6 at once, then 0.9 a second
    rate = Rate(60)
    waits = [rate.take(1, 0.0, longest_s=100) for _ in range(8)]
    assert waits == pytest.approx([0, 0, 0, 0, 0, 0, 1 / 0.9, 2 / 0.9])


def test_what_cannot_wait_so_long_takes_nothing() -> None:
    rate = Rate(1)
    assert rate.take(1, 0.0, longest_s=0) == 0.0
    assert rate.take(1, 0.0, longest_s=60) is None
    assert rate.take(1, 0.0, longest_s=70) == pytest.approx(60 / 0.9)


def test_what_was_taken_too_much_is_given_back_and_what_was_too_little_is_owed() -> None:
    rate = Rate(600)  # 60 at once, 9 a second
    assert rate.take(60, 0.0, longest_s=0) == 0.0
    rate.owe(-30, 0.0)
    assert rate.take(30, 0.0, longest_s=0) == 0.0
    rate.owe(9, 0.0)
    assert rate.take(1, 0.0, longest_s=9) == pytest.approx(10 / 9)


def test_an_amount_above_the_burst_waits_for_a_full_bucket_and_then_goes_whole() -> None:
    rate = Rate(100)  # 10 at once, 1.5 a second
    assert rate.take(50, 0.0, longest_s=0) == 0.0
    assert rate.take(50, 0.0, longest_s=100) == pytest.approx(50 / 1.5)


def test_a_hold_keeps_everybody_even_without_a_limit() -> None:
    rate = Rate(None)
    rate.hold(5.0)
    rate.hold(3.0)
    assert (rate.take(1, 1.0, longest_s=9), rate.take(1, 1.0, longest_s=3), rate.take(1, 6.0, longest_s=0)) == (
        4.0, None, 0.0,
    )  # fmt: skip


def most_in_a_minute(moments: Sequence[float]) -> int:
    return max(sum(start <= moment < start + 60 - 1e-6 for moment in moments) for start in moments)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.integers(1, 300), st.integers(0, 2**32))
def test_no_minute_ever_sees_more_than_the_limit(limit: int, seed: int) -> None:
    rng, rate, now, gone = random.Random(seed), Rate(limit), 0.0, []
    for _ in range(400):
        now += rng.expovariate(limit / 30)
        wait_s = rate.take(1, now, longest_s=120)
        if wait_s is not None:
            gone.append(now + wait_s)
    assert most_in_a_minute(gone) <= limit
    assert gone == sorted(gone)  # nobody overtakes


def test_the_check_of_a_minute_catches_a_bucket_as_large_as_the_limit() -> None:
    at_once_and_then_evenly = [0.0] * 60 + [float(second) for second in range(1, 60)]
    assert most_in_a_minute(at_once_and_then_evenly) > 60
