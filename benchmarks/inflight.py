"""A thousand drafts in flight on one worker, over a model that takes seconds: do commits still go through?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from benchmarks.child import TICK_S, Seen
from benchmarks.figures import Figure, at_least, at_most
from benchmarks.ground import Child, Ground, Run, publish
from benchmarks.load import draft, http_bom
from benchmarks.model import LATENCIES, model

IN_FLIGHT, LEAST_IN_FLIGHT = 1_000, 950
LONGEST_GAP_S = 2.0
STEADY_S = 10
"""Seconds of full load that are measured, after the first thousand are done and with more waiting."""

DRAIN_S = 1.0
"""What still runs at the end is cut off: it is not measured."""


class Steady(NamedTuple):
    """The looks of the steady state, told in numbers: drafts/s, seconds without a commit, lag of the event loop."""

    per_s: float
    longest_gap_s: float
    commits: int
    lag_p99_ms: float
    lag_most_ms: float
    rss_mib: float


def inflight(ground: Ground) -> list[Figure]:
    """A model that answers after 2 to 12 s, median 5."""
    mean_s = LATENCIES["slow"].mean_s()
    measured = int(STEADY_S * IN_FLIGHT / mean_s)
    with model("slow") as endpoint:
        settings = ground.fresh(
            ground.bom(http_bom), model_base_url=endpoint.url, concurrency=IN_FLIGHT, drain_timeout_s=DRAIN_S
        )
        publish(settings, [draft(n, salt="-inflight") for n in range(2 * IN_FLIGHT + measured)])
        with Child("judge", settings, records=IN_FLIGHT + measured) as child:
            run = child.result()
        most = endpoint.most_in_flight()
    seen = steady([look for look in run.series if look.done >= IN_FLIGHT])
    return [_in_flight(most, seen, mean_s, run), _commits(seen, run)]


def steady(looks: Sequence[Seen]) -> Steady:
    """A commit is noticed at the look after it; a look that comes late is what the event loop lags by."""
    commits = [after.at for before, after in pairwise(looks) if after.commits > before.commits]
    gaps = [after - before for before, after in pairwise([looks[0].at, *commits, looks[-1].at])]
    lags_ms = [1000 * max(after.at - before.at - TICK_S, 0.0) for before, after in pairwise(looks)]
    return Steady(
        per_s=(looks[-1].done - looks[0].done) / (looks[-1].at - looks[0].at),
        longest_gap_s=max(gaps),
        commits=looks[-1].commits - looks[0].commits,
        lag_p99_ms=float(np.percentile(lags_ms, 99)),
        lag_most_ms=max(lags_ms),
        rss_mib=max(look.rss_mib for look in looks),
    )


def _in_flight(most: int, seen: Steady, mean_s: float, run: Run) -> Figure:
    return at_least(
        "inflight",
        f"calls in flight at a model of {mean_s:.1f} s, one worker",
        f"{most:,} calls",
        f"{IN_FLIGHT:,} drafts at a time",
        ratio=most / IN_FLIGHT,
        target=LEAST_IN_FLIGHT / IN_FLIGHT,
        notes=(
            f"counted by the model; in steady state {seen.per_s:,.0f} drafts/s, which is {seen.per_s * mean_s:,.0f} in "
            "flight by Little's law",
            f"the limit on calls fell {run.counted['assay_model_throttled_total']:.0f} times; "
            f"{run.counted['assay_model_waits_total']:.0f} calls waited for their turn; RSS {seen.rss_mib:,.0f} MiB",
        ),
    )


def _commits(seen: Steady, run: Run) -> Figure:
    return at_most(
        "inflight",
        "longest time without a commit meanwhile",
        f"{seen.longest_gap_s:,.2f} s",
        f"{LONGEST_GAP_S:g} s",
        ratio=seen.longest_gap_s / LONGEST_GAP_S,
        target=1.0,
        notes=(
            f"{seen.commits:,} commits, {run.counted['assay_commits_refused_total']:.0f} refused; lag of the event "
            f"loop: p99 {seen.lag_p99_ms:,.0f} ms, most {seen.lag_most_ms:,.0f} ms",
        ),
    )
