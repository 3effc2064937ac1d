"""What attempt records and decisions add to the counts. Pure.

Of every thousand attempts most are alike: those are counted together, and what they add is made once for all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from schemas.decisions import Decision, ItemDecision
from schemas.telemetry import AttemptRecord
from schemas.verdict_space import Cause, Flag, Label
from schemas.verdicts import AttemptOutcome
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
    Key,
    Mark,
    bucket,
    slices_counted,
)
from workers.stats_consumer.units import whole

_latency_bucket = lru_cache(4096)(lambda ms: f"latency|{bucket(ms, LATENCY_STEP)}")
_length_bucket = lru_cache(4096)(lambda chars: bucket(chars, LENGTH_STEP))


class Alike(NamedTuple):
    """What attempts that are counted together have in common. ``verdicts``: criterion, label, cause, flags of each."""

    bom_version: str
    pane: int
    attempt: int
    outcome: AttemptOutcome
    slices: tuple[str, ...]
    generator: str | None
    verdicts: tuple[tuple[str, Label, Cause | None, tuple[Flag, ...]], ...]
    flags: tuple[Flag, ...]
    audit: tuple[Label, ...]

    @property
    def stratum(self) -> str:
        return FIRST if self.attempt == 0 else REVISED

    def key(self, subject: str, slice_: str = EVERYTHING, stratum: str = "") -> Key:
        return (self.bom_version, subject, slice_, stratum, self.pane)


@dataclass(slots=True)
class Sums:
    """What is added up over attempts that are alike."""

    attempts: int = 0
    cached: int = 0
    calls: int = 0
    cost_unknown: int = 0
    cost_microusd: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    hedges: int = 0
    words: int = 0
    latencies_ms: list[float] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)

    def add(self, record: AttemptRecord) -> None:
        self.attempts += 1
        self.cached += record.cached_verdicts
        self.calls += record.model_calls
        if (cost := record.cost_usd) is None:
            self.cost_unknown += 1
        else:
            self.cost_microusd += round(cost * 1_000_000)
        self.input_tokens += record.input_tokens or 0
        self.output_tokens += record.output_tokens or 0
        if record.hedging is not None:
            hedges, words = record.hedging
            self.hedges, self.words = self.hedges + hedges, self.words + words
        self.latencies_ms.append(record.latency_ms)
        self.lengths.append(record.draft_chars)


def alike(record: AttemptRecord, *, pane: int) -> Alike:
    return Alike(
        record.bom_version, pane, record.attempt, record.attempt_outcome, record.slices, record.generator_model,
        tuple([(v.criterion_id, v.label, v.cause, v.flags) for v in record.verdicts]), record.flags,
        tuple([v.label for v in record.audit]),
    )  # fmt: skip


def attempt_marks(of: Alike, sums: Sums, *, watched: frozenset[str]) -> Iterator[Mark]:
    """Labels and outcome in every slice counted; causes, flags, usage and lengths over everything."""
    n = sums.attempts
    for slice_ in slices_counted(of.slices, of.generator, watched):
        yield (of.key(GATE, slice_, of.stratum), f"{of.attempt}|{of.outcome}", n)
        for criterion, label, _, _ in of.verdicts:
            yield (of.key(criterion, slice_, of.stratum), f"{label}|", n)
    yield from _trouble(of, n)
    yield from _usage(of, sums)
    yield from _lengths(of, sums)
    yield from _served(of, sums)


def _trouble(of: Alike, n: int) -> Iterator[Mark]:
    for criterion, _, cause, _ in of.verdicts:
        if cause is not None:
            yield (of.key(CAUSES), f"{criterion}|{cause}", n)
    for flag in {*of.flags, *(flag for *_, flags in of.verdicts for flag in flags)}:
        yield (of.key(FLAGS), str(flag), n)


def _usage(of: Alike, sums: Sums) -> Iterable[Mark]:
    amounts = {
        "attempts": sums.attempts,
        "verdicts": sums.attempts * len(of.verdicts),
        "cached": sums.cached,
        "calls": sums.calls,
        "cost_unknown": sums.cost_unknown,
        "cost_microusd": sums.cost_microusd,
        "input_tokens": sums.input_tokens,
        "output_tokens": sums.output_tokens,
        **Counter(_latency_bucket(round(ms, 1)) for ms in sums.latencies_ms),
    }
    return ((of.key(USAGE), name, amount) for name, amount in amounts.items() if amount)


def _lengths(of: Alike, sums: Sums) -> Iterator[Mark]:
    if of.attempt > 0:
        return
    for number, n in Counter(map(_length_bucket, sums.lengths)).items():
        for criterion, label, _, _ in of.verdicts:
            if label.decided:
                yield (of.key(LENGTH), f"{criterion}|{number}|{label}", n)


def _served(of: Alike, sums: Sums) -> Iterator[Mark]:
    """What is known of served drafts alone: the audit judges' word, and how their text hedges."""
    if of.audit:
        yield (of.key(AUDITED), whole(map(str, of.audit)), sums.attempts)
    for name, n in (("hedges", sums.hedges), ("words", sums.words)):
        if n:
            yield (of.key(HEDGING, stratum=of.stratum), name, n)


class AlikeDecisions(NamedTuple):
    """What decisions that are counted together have in common: all that is counted of them."""

    bom_version: str
    pane: int
    decision: Decision
    attempt: int
    slices: tuple[str, ...]
    generator: str | None


def alike_decisions(said: ItemDecision, *, pane: int) -> AlikeDecisions:
    return AlikeDecisions(said.bom_version, pane, said.decision, said.attempt, said.slices, said.generator_model)


def decision_marks(of: AlikeDecisions, n: int, *, watched: frozenset[str]) -> Iterator[Mark]:
    for slice_ in slices_counted(of.slices, of.generator, watched):
        yield ((of.bom_version, ROUNDS, slice_, str(of.decision), of.pane), str(of.attempt), n)
