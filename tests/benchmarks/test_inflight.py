from __future__ import annotations

import pytest

from benchmarks.child import Seen
from benchmarks.inflight import LONGEST_GAP_S, steady


def looks(*commits: int, late_s: float = 0.0) -> list[Seen]:
    """A look every 20 ms, the last one late; 4 drafts are done between two."""
    series = [Seen(0.02 * n, 0.0, 4 * n, 100.0 + n, count) for n, count in enumerate(commits)]
    return [*series[:-1], series[-1]._replace(at=series[-1].at + late_s)]


def test_commits_that_go_through_leave_gaps_of_their_interval() -> None:
    seen = steady(looks(*(n // 5 for n in range(501))))
    assert (seen.commits, seen.per_s, seen.rss_mib) == (100, pytest.approx(200), 600.0)  # 4 drafts in 20 ms: 200 a s
    assert seen.longest_gap_s == pytest.approx(0.1)


@pytest.mark.parametrize("commits", [[0] * 150, [1] + [2] * 150, [*range(20), *[19] * 150], [0] * 150 + [1]])
def test_starved_commits_are_seen_wherever_they_starve(commits: list[int]) -> None:
    assert steady(looks(*commits)).longest_gap_s > LONGEST_GAP_S


def test_a_look_that_comes_late_is_lag_of_the_event_loop() -> None:
    assert steady(looks(0, 1, 2, 3)).lag_most_ms == pytest.approx(0.0)
    assert steady(looks(0, 1, 2, 3, late_s=0.3)).lag_most_ms == pytest.approx(300.0)
