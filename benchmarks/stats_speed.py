"""How fast the statistics are, as ratios against a plain baseline measured in the same run.

    python -m benchmarks.stats_speed [--json]

The baselines are what one would write first: a Python loop over resamples and items for the band bootstrap, the
``krippendorff`` package for alpha, the public scalar function point by point for the sweep.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from itertools import product
from typing import Any

import krippendorff
import numpy as np

from stats.alpha import krippendorff_alpha
from stats.band_bootstrap import band_bootstrap, band_bootstrap_from_counts
from stats.cells import Attempt, Cells, fold_attempt
from stats.chain import ChainSettings, chain_grid, retry_chain
from stats.panel import panel_counts
from stats.panes import Event, Mark, PaneFold
from stats.synthetic import synthetic_week

RESAMPLES, ITEMS = 2000, 300


def main() -> None:
    rows = [*band_rows(), alpha_row(), sweep_row(), fold_row(), pane_row()]
    if "--json" in sys.argv:
        print(json.dumps(rows))
        return
    for row in rows:
        verdict = "ok  " if row["ok"] else "SLOW"
        print(f"{verdict} {row['what']:<58} {row['value']:>12,.1f} {row['unit']:<12} ({row['promise']})")


def band_rows() -> list[dict[str, Any]]:
    judge, panel = synthetic_week(n=ITEMS, seed=3)
    counts = panel_counts(judge, panel)
    big_judge, big_panel = synthetic_week(n=300_000, seed=3)
    big = panel_counts(big_judge, big_panel)
    loop_s = best(lambda: naive_bootstrap(judge, panel, RESAMPLES // 10), 2) * 10
    cells_s = best(lambda: band_bootstrap_from_counts(counts, rng=np.random.default_rng(1)), 30)
    raw_s = best(lambda: band_bootstrap(judge, panel, rng=np.random.default_rng(1)), 30)
    big_s = best(lambda: band_bootstrap_from_counts(big, rng=np.random.default_rng(1)), 30)
    return [
        row("band bootstrap from label patterns", loop_s / cells_s, "x the loop", at_least=500),
        row("band bootstrap from raw labels", loop_s / raw_s, "x the loop", at_least=100),
        row("band bootstrap of 300,000 items against 300", big_s / cells_s, "x the time", at_most=3),
    ]


def naive_bootstrap(judge: list[str], panel: list[list[str]], n_boot: int) -> list[float]:
    """Resample items, score every rater and the judge against the other raters' majority, in plain Python."""
    rng, margins = random.Random(1), []
    items = range(len(judge))
    for _ in range(n_boot):
        drawn = [rng.choice(items) for _ in items]
        judge_scores, rater_scores = [], []
        for i, rater in enumerate(panel):
            others = [votes for k, votes in enumerate(panel) if k != i]
            fails = [j for j in drawn if 2 * sum(votes[j] == "fail" for votes in others) > len(others)]
            if fails:
                judge_scores.append(sum(judge[j] == "fail" for j in fails) / len(fails))
                rater_scores.append(sum(rater[j] == "fail" for j in fails) / len(fails))
        if len(rater_scores) == len(panel):
            spread = statistics.stdev(rater_scores)
            margins.append(statistics.fmean(judge_scores) - statistics.fmean(rater_scores) + 3.37 * spread)
    return sorted(margins)


def alpha_row() -> dict[str, Any]:
    rng = random.Random(2)
    codes = [[rng.choice([0, 1, 1, None]) for _ in range(ITEMS)] for _ in range(3)]
    words = [[None if code is None else ("fail", "pass")[code] for code in row] for row in codes]
    theirs = np.array([[np.nan if code is None else code for code in row] for row in codes])
    ours_s = best(lambda: krippendorff_alpha(words), 200)
    theirs_s = best(lambda: krippendorff.alpha(reliability_data=theirs, level_of_measurement="nominal"), 200)
    return row("alpha of 300 x 3 words against krippendorff on codes", ours_s / theirs_s, "x its time", at_most=2)


def sweep_row() -> dict[str, Any]:
    axes = ((0, 0.1, 0.2, 0.3, 0.4, 0.5), (0.1, 0.3, 0.5, 0.7, 0.9), (0.1, 0.3, 0.5, 0.7, 0.9))
    points = list(product(*axes, (0.0, 0.1, 0.3), (0.7, 0.8, 0.9, 0.95), (0.6, 0.8, 0.95)))

    def loop() -> None:
        for rho in (0.0, 1.0):  # chain_grid does both too
            for point in points:
                retry_chain(ChainSettings(*point, rho))

    return row("the 5,400-point sweep against point by point", best(loop, 2) / best(chain_grid, 20), "x", at_least=50)


def fold_row() -> dict[str, Any]:
    attempts = [
        Attempt("bom-1", i % 3, ("serve", "revise", "drop")[i % 3], {"c1": "pass", "c2": "fail"}, ("new_item",))
        for i in range(50_000)
    ]

    def fold() -> None:
        cells = Cells()
        for i, attempt in enumerate(attempts):
            fold_attempt(cells, attempt, pane=i // 10_000)

    rate = len(attempts) / best(fold, 3)
    return row("telemetry records folded into cells", rate, "records/s", at_least=100_000)


def pane_row() -> dict[str, Any]:
    events = [
        Event(f"e{i}", i * 10.0, f"item-{i}", 1, (Mark("bom-1", "c1", "all", "dropped", "fail|fail"),))
        for i in range(50_000)
    ]

    def fold() -> None:
        panes = PaneFold(86_400, lateness=3600)
        for event in events:
            panes.apply(event)

    return row("labels folded into event-time panes", len(events) / best(fold, 3), "events/s", at_least=50_000)


def best(run: Callable[[], object], times: int) -> float:
    """Seconds of the fastest of so many runs."""
    took = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        took.append(time.perf_counter() - start)
    return min(took)


def row(
    what: str, value: float, unit: str, *, at_least: float | None = None, at_most: float | None = None
) -> dict[str, Any]:
    ok = (at_least is None or value >= at_least) and (at_most is None or value <= at_most)
    promise = f"at least {at_least:,}" if at_least is not None else f"at most {at_most:,}"
    return {"what": what, "value": value, "unit": unit, "promise": promise, "ok": ok}


if __name__ == "__main__":
    main()
