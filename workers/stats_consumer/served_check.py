"""What reached readers, measured from outside: served strata, the cap, the last retry, origins of defects (S2 6.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import orjson

from schemas.decisions import Decision
from schemas.reports import Figure, Health
from stats.proportions import wilson
from stats.retries import MarginalStep, marginal_step
from stats.stratified import Stratum, stratified_estimate
from stats.unavailable import Number, Unavailable
from workers.stats_consumer.cells import ATTRIBUTION, AUDIT, ITEMS
from workers.stats_consumer.figure import share, value
from workers.stats_consumer.persistence import persistence_figures
from workers.stats_consumer.rules import Rules
from workers.stats_consumer.week import Week

SERVED = (str(Decision.SERVED_FIRST_PASS), str(Decision.SERVED_AFTER_REVISION))
_S = Health.SERVED


class Labelled(NamedTuple):
    """(stratum, attempt, weight) -> [defects, settled items]."""

    stratum: str
    attempt: int
    weight: float
    defects: int
    n: int


class ServedRate(NamedTuple):
    """One-sided 95 % bounds. ``missing`` says why a bound is not there."""

    p: Number
    lower: Number
    upper: Number
    n: int


def labelled(weeks: Sequence[Week], subject: str = ITEMS) -> list[Labelled]:
    """People's word on whole items, pooled over weeks."""
    seen: Counter[tuple[str, int, float, bool]] = Counter()
    for week in weeks:
        for stratum, cells in week.strata(subject).items():
            for cell, n in cells.items():
                attempt, weight, settled = orjson.loads(cell)
                if settled != "unsettled":
                    seen[stratum, attempt, weight, settled == "defect"] += n
    groups = sorted({key[:3] for key in seen})
    return [Labelled(*g, seen[*g, True], seen[*g, True] + seen[*g, False]) for g in groups]


def served_rate(rows: Sequence[Labelled]) -> ServedRate:
    """The defect share of what was served; weight classes are strata of their own (S2 6.3)."""
    served = [row for row in rows if row.stratum in SERVED]
    x, n = sum(row.defects for row in served), sum(row.n for row in served)
    read = stratified_estimate([Stratum(row.weight * row.n, row.n, row.defects) for row in served], conf=0.90)
    if not isinstance(read, Unavailable) and not isinstance(read.lo, Unavailable):
        return ServedRate(read.p, read.lo, read.hi, n)
    plain = wilson(x, n, conf=0.90)
    if isinstance(plain, Unavailable):
        missing = Unavailable("labels from the served strata; none has come yet")
        return ServedRate(missing, missing, missing, 0)
    if len({row.weight for row in served}) > 1 and x:
        spread = Unavailable("two labels in every stratum and weight")
        return ServedRate(plain.p, spread, spread, n)
    return ServedRate(plain.p, plain.lo, plain.hi, n)


def last_step(rows: Sequence[Labelled], *, retry_budget: int, break_even: float) -> tuple[MarginalStep, int]:
    """May the last retry stay? And how many labels it rests on. Looked at every week, hence the sequence's bound."""
    at_k = [r for r in rows if r.stratum == Decision.SERVED_AFTER_REVISION and r.attempt == retry_budget]
    x, n = sum(r.defects for r in at_k), sum(r.n for r in at_k)
    return marginal_step(x, n, break_even, bound="sequence"), n


def after_revision(rows: Sequence[Labelled], *, break_even: float) -> tuple[MarginalStep, int, int]:
    """The whole post-revision stratum against break-even: decision, defects, labels."""
    mended = [r for r in rows if r.stratum == Decision.SERVED_AFTER_REVISION]
    x, n = sum(r.defects for r in mended), sum(r.n for r in mended)
    return marginal_step(x, n, break_even, bound="sequence"), x, n


def labels_missing(x: int, n: int, break_even: float, *, most: int = 20_000) -> int | None:
    """How many more labels would decide at the share seen so far; None when more than ``most`` would not."""
    total = max(n, 10)
    while total <= most:
        if marginal_step(round(x / n * total) if n else 0, total, break_even, bound="sequence").decision != "pool":
            return total - n
        total = total + max(1, total // 20)
    return None


def served_figures(
    week: Week, pooled: Sequence[Week], *, cap: float, retry_budget: int, break_even: float | None, rules: Rules
) -> Iterator[Figure]:
    """``pooled``: this week and those before it that bounds are pooled over."""
    by: Counter[tuple[str, str]] = Counter()
    for row in labelled([week]):
        for attempt in ("all", str(row.attempt)):
            by[row.stratum, attempt] += row.n
            by[row.stratum, f"{attempt} defects"] += row.defects
    for (stratum, attempt), n in sorted(by.items()):
        if not attempt.endswith("defects"):
            scope = {"stratum": stratum, "attempt": attempt}
            yield share(_S, "defect_rate", by[stratum, f"{attempt} defects"], n, of="labelled items", scope=scope)
    rows = labelled(pooled)
    read = served_rate(rows)
    yield value(
        _S, "served_defect_rate", read.p, of="served items, pooled weeks", lo=read.lower, hi=read.upper, n=read.n
    )
    yield value(_S, "served_defect_cap", cap, of="served items")
    yield from _break_even(rows, retry_budget, break_even)
    audited = labelled(pooled, AUDIT)
    defects, n = sum(r.defects for r in audited), sum(r.n for r in audited)
    missing = "labels of the uniform audit draw; none has come yet"
    yield share(_S, "audited_defect_rate", defects, n, of="audited served items", missing=missing)
    yield from _origins(pooled)
    yield from persistence_figures(pooled, rules)


def _break_even(rows: Sequence[Labelled], retry_budget: int, break_even: float | None) -> Iterator[Figure]:
    if break_even is None:
        yield value(_S, "break_even_defect_rate", Unavailable("relative costs: both are 0 in the charter"))
        return
    yield value(_S, "break_even_defect_rate", break_even, of="served items")
    step, n = last_step(rows, retry_budget=retry_budget, break_even=break_even)
    bad = sum(r.defects for r in rows if r.stratum == Decision.SERVED_AFTER_REVISION and r.attempt == retry_budget)
    scope = {"attempt": str(retry_budget), "decision": step.decision}
    if step.decision == "pool":
        more = labels_missing(bad, n, break_even)
        reason = f"{more} more post-revision labels" if more else "the share is too close to break-even to tell"
        yield value(_S, "marginal_step", Unavailable(reason), n=n, scope=scope)
    else:
        yield value(
            _S, "marginal_step", bad / n, of="items first served there", lo=step.lo, hi=step.hi, n=n, scope=scope
        )


def _origins(weeks: Sequence[Week]) -> Iterator[Figure]:
    """Where post-revision defects come from."""
    origins: Counter[str] = Counter()
    for week in weeks:
        origins.update(week.cells(ATTRIBUTION))
    total = origins.total()
    for how in ("caught_then_missed", "never_failed", "unknown"):
        n = sum(times for cell, times in origins.items() if cell.endswith(f"|{how}"))
        yield share(
            _S, how, n, total, of="defects found after revision", missing="post-revision defects; none found yet"
        )
