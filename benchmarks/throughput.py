"""A worker that never waits for a model, against the bare loop: what judging itself costs."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path

from benchmarks.figures import Figure, at_least
from benchmarks.ground import Child, Ground, Run, outputs_of, publish
from benchmarks.load import draft, model_bom, models_bom, rules_bom
from schemas.drafts import Draft
from workers.runtime.settings import Settings

DRAFTS = 6_000
"""About 3.5 MiB a partition of the fullest topic (telemetry, 12 partitions): below the embedded broker's 5 MiB."""

ROUNDS = 3


def rules(ground: Ground) -> list[Figure]:
    """One criterion, decided by rules."""
    return [_compared(ground, "rules", "judge, rules only", rules_bom, target=0.35, before=lambda _: None)]


def cache(ground: Ground) -> list[Figure]:
    """One criterion that a model judges, and two; every one of its verdicts is a cache hit."""

    def fill(settings: Settings) -> None:
        publish(settings, _drafts())
        with Child("judge", settings, records=DRAFTS) as child:
            child.result()

    what = f"judge, verdicts from {ground.cache}"
    return [
        _compared(ground, "cache", what, model_bom, target=0.3, before=fill),
        _compared(ground, "cache 2", f"{what}, two criteria", models_bom, target=0.3, before=fill),
    ]


def _compared(
    ground: Ground,
    bench: str,
    what: str,
    make: Callable[[Path], Path],
    *,
    target: float,
    before: Callable[[Settings], None],
) -> Figure:
    bom = ground.bom(make)
    before(ground.fresh(bom))
    outs = outputs_of(ground.fresh(bom), draft(0))
    pairs = [(_run(ground, "judge", bom), _run(ground, "bare", bom, outs=outs)) for _ in range(ROUNDS)]
    mine, base = ([_rate(run) for run in runs] for runs in zip(*pairs, strict=True))
    ratios = [m[0] / b[0] for m, b in zip(mine, base, strict=True)]
    last = pairs[-1][0]
    return at_least(
        bench,
        what,
        f"{statistics.median(m[0] for m in mine):,.0f} drafts/s",
        f"bare loop {statistics.median(b[0] for b in base):,.0f} drafts/s",
        ratio=statistics.median(ratios),
        target=target,
        notes=(
            f"median of {ROUNDS} ratios ({', '.join(f'{ratio:.3f}' for ratio in sorted(ratios))}); {DRAFTS} drafts, "
            f"{len(outs)} records and {sum(size for _, size in outs):,} bytes out a draft; nothing dropped",
            f"CPU a draft {1e6 * statistics.median(m[1] for m in mine):,.0f} us "
            f"(bare loop {1e6 * statistics.median(b[1] for b in base):,.0f} us): {last.shares()}",
            f"{sum(run.counted['assay_commits_refused_total'] for run, _ in pairs):.0f} commits refused",
        ),
    )


def _run(ground: Ground, kind: str, bom: Path, **job: object) -> Run:
    settings = ground.fresh(bom)
    publish(settings, _drafts())
    with Child(kind, settings, records=DRAFTS, **job) as child:
        return child.result()


def _rate(run: Run) -> tuple[float, float]:
    return run.between(DRAFTS // 10, DRAFTS)


def _drafts() -> list[Draft]:
    return [draft(number) for number in range(DRAFTS)]
