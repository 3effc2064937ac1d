from __future__ import annotations

import heapq
import random

import pytest

from workers.judge.limits.concurrency import FLOOR_PERIOD_S, AdaptiveConcurrency


def rounds(limit: AdaptiveConcurrency, count: int, *, latency_s: float, now: float = 0.0) -> float:
    """So many rounds of calls, each as many as the limit allows; the moment of the end."""
    for _ in range(count):
        for _ in range(limit.limit):
            limit.answered(started=now, now=now + latency_s)
        now += latency_s
    return now


def test_it_starts_at_the_top_and_stays_there_while_all_is_well() -> None:
    limit = AdaptiveConcurrency(100)
    rounds(limit, 20, latency_s=1.0)
    assert limit.limit == 100


def test_a_burst_of_429_halves_it_once_and_the_next_round_halves_it_again() -> None:
    limit = AdaptiveConcurrency(100)
    fell = [limit.refused(started=0.0, now=1.0) for _ in range(100)]
    assert (limit.limit, fell.count(True)) == (50, 1)
    assert limit.refused(started=1.5, now=2.0)
    assert limit.limit == 25


def test_it_never_falls_below_one_call() -> None:
    limit = AdaptiveConcurrency(8)
    for now in range(50):
        limit.refused(started=float(now), now=now + 0.5)
    assert limit.limit == 1


@pytest.mark.parametrize("most", [4, 100, 1000])
def test_it_recovers_to_the_top_and_never_beyond_it(most: int) -> None:
    limit = AdaptiveConcurrency(most)
    for now in range(20):
        limit.refused(started=float(now), now=now + 0.5)
    assert limit.limit == 1
    rounds(limit, 60, latency_s=1.0, now=100.0)
    assert limit.limit == most


def test_latency_that_doubles_against_its_floor_makes_it_fall() -> None:
    limit = AdaptiveConcurrency(100)
    now = rounds(limit, 5, latency_s=1.0)
    rounds(limit, 3, latency_s=4.0, now=now)
    assert limit.limit < 70


def test_short_calls_that_jitter_do_not_make_it_fall() -> None:
    limit = AdaptiveConcurrency(100)
    now = rounds(limit, 5, latency_s=0.01)
    rounds(limit, 5, latency_s=0.3, now=now)
    assert limit.limit == 100


def test_a_model_that_is_slower_for_good_is_not_throttled_for_ever() -> None:
    limit = AdaptiveConcurrency(50)
    now = rounds(limit, 5, latency_s=1.0)
    now = rounds(limit, 10, latency_s=5.0, now=now)
    assert limit.limit < 50
    rounds(limit, int(3 * FLOOR_PERIOD_S / 5) + 60, latency_s=5.0, now=now)
    assert limit.limit == 50


def test_time_outs_are_latencies() -> None:
    limit = AdaptiveConcurrency(100)
    now = rounds(limit, 3, latency_s=1.0)
    rounds(limit, 3, latency_s=20.0, now=now)
    assert limit.limit < 70


@pytest.mark.parametrize("sigma", [0.3, 0.8])
def test_a_model_whose_latencies_scatter_keeps_all_its_calls(sigma: float) -> None:
    """400 calls in flight for two minutes; lognormal, median 1 s, a call in a thousand times out after 20 s."""
    rng, limit, lowest = random.Random(1), AdaptiveConcurrency(400), 400
    running = [(min(rng.lognormvariate(0, sigma), 20.0), 0.0) for _ in range(400)]
    heapq.heapify(running)
    while running[0][0] < 120:
        now, started = heapq.heappop(running)
        limit.answered(started=started, now=now)
        lowest = min(lowest, limit.limit)
        latency_s = 20.0 if rng.random() < 0.001 else min(rng.lognormvariate(0, sigma), 20.0)
        heapq.heappush(running, (now + latency_s, now))
    assert lowest == 400


def test_a_server_that_gets_slower_with_every_call_above_its_capacity_is_relieved() -> None:
    """Latency is 1 s up to 50 calls in flight and rises in proportion above: the limit leaves 400 for good."""
    limit, now = AdaptiveConcurrency(400), 0.0
    now = rounds_of(limit, 3, calls=40, now=now)  # little to do at first: the floor
    lows = []
    for _ in range(40):
        now = rounds_of(limit, 1, calls=400, now=now)
        lows.append(limit.limit)
    assert max(lows[10:]) < 200


def rounds_of(limit: AdaptiveConcurrency, count: int, *, calls: int, now: float) -> float:
    for _ in range(count * max(400 // calls, 1)):
        running = min(calls, limit.limit)
        latency_s = max(running / 50, 1.0)
        for _ in range(running):
            limit.answered(started=now, now=now + latency_s)
        now += latency_s
    return now
