"""What one attempt record and one decision add to the counts. Pure."""

from __future__ import annotations

from functools import lru_cache

from schemas.decisions import ItemDecision
from schemas.telemetry import AttemptRecord
from stats.cells import EVERYTHING, GATE
from workers.stats_consumer.cells import (
    AUDITED,
    CAUSES,
    FIRST,
    FLAGS,
    HEDGING,
    LATENCY_STEP,
    LENGTH,
    LENGTH_STEP,
    REVISED,
    ROUNDS,
    USAGE,
    Mark,
    bucket,
    slices_counted,
)
from workers.stats_consumer.units import whole

_latency_bucket = lru_cache(4096)(lambda ms: f"latency|{bucket(ms, LATENCY_STEP)}")
_length_bucket = lru_cache(4096)(lambda chars: bucket(chars, LENGTH_STEP))


def attempt_marks(record: AttemptRecord, *, pane: int, watched: frozenset[str]) -> list[Mark]:
    """Labels and outcome in every slice counted; causes, flags, usage and lengths over everything."""
    bom, stratum = record.bom_version, FIRST if record.attempt == 0 else REVISED
    outcome = f"{record.attempt}|{record.attempt_outcome}"
    marks = []
    for slice_ in slices_counted(record.slices, record.generator_model, watched):
        marks.append(Mark((bom, GATE, slice_, stratum, pane), outcome))
        marks += [Mark((bom, v.criterion_id, slice_, stratum, pane), f"{v.label}|") for v in record.verdicts]
    return marks + _trouble(record, pane) + _usage(record, pane) + _lengths(record, pane) + _served(record, pane)


def _trouble(record: AttemptRecord, pane: int) -> list[Mark]:
    bom = record.bom_version
    flags = {*record.flags, *(flag for v in record.verdicts for flag in v.flags)}
    caused = [v for v in record.verdicts if v.cause is not None]
    return [
        *(Mark((bom, CAUSES, EVERYTHING, "", pane), f"{v.criterion_id}|{v.cause}") for v in caused),
        *(Mark((bom, FLAGS, EVERYTHING, "", pane), str(flag)) for flag in flags),
    ]


def _usage(record: AttemptRecord, pane: int) -> list[Mark]:
    key = (record.bom_version, USAGE, EVERYTHING, "", pane)
    cost = record.cost_usd
    amounts = {
        "attempts": 1,
        "verdicts": len(record.verdicts),
        "cached": record.cached_verdicts,
        "calls": record.model_calls,
        "cost_unknown": int(cost is None),
        "cost_microusd": round(cost * 1_000_000) if cost else 0,
        "input_tokens": record.input_tokens or 0,
        "output_tokens": record.output_tokens or 0,
        _latency_bucket(round(record.latency_ms, 1)): 1,
    }
    return [Mark(key, name, amount) for name, amount in amounts.items() if amount]


def _lengths(record: AttemptRecord, pane: int) -> list[Mark]:
    if record.attempt > 0:
        return []
    key, number = (record.bom_version, LENGTH, EVERYTHING, "", pane), _length_bucket(record.draft_chars)
    return [Mark(key, f"{v.criterion_id}|{number}|{v.label}") for v in record.verdicts if v.label.decided]


def _served(record: AttemptRecord, pane: int) -> list[Mark]:
    """What is known of served drafts alone: the audit judges' word, and how their text hedges."""
    marks = []
    if record.audit:
        said = whole(str(v.label) for v in record.audit)
        marks.append(Mark((record.bom_version, AUDITED, EVERYTHING, "", pane), said))
    if record.hedging is not None:
        hedges, words = record.hedging
        key = (record.bom_version, HEDGING, EVERYTHING, FIRST if record.attempt == 0 else REVISED, pane)
        marks += [Mark(key, name, n) for name, n in (("hedges", hedges), ("words", words)) if n]
    return marks


def decision_marks(decision: ItemDecision, *, pane: int, watched: frozenset[str]) -> list[Mark]:
    slices = slices_counted(decision.slices, decision.generator_model, watched)
    stratum, cell = str(decision.decision), str(decision.attempt)
    return [Mark((decision.bom_version, ROUNDS, slice_, stratum, pane), cell) for slice_ in slices]
