"""What a judge worker's own messages say, as metrics: nothing is counted that is not also on a topic."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.decisions import ItemDecision
from schemas.message import Message
from schemas.telemetry import AttemptRecord
from workers.runtime.metrics import Metrics


def measure(messages: Sequence[Message], metrics: Metrics) -> None:
    """Count one draft's outcome, verdicts, causes, flags and decision, and how long it took."""
    for message in messages:
        if isinstance(message, AttemptRecord):
            _attempt(message, metrics)
        elif isinstance(message, ItemDecision):
            metrics.add("assay_decisions_total", decision=message.decision)


def _attempt(record: AttemptRecord, metrics: Metrics) -> None:
    metrics.add("assay_attempts_total", outcome=record.attempt_outcome)
    metrics.observe("assay_judging_seconds", record.latency_ms / 1000)
    for flag in record.flags:
        metrics.add("assay_flags_total", flag=flag)
    for audited in record.audit:
        metrics.add("assay_audits_total", criterion=audited.criterion_id, label=audited.label)
    for verdict in record.verdicts:
        metrics.add("assay_verdicts_total", criterion=verdict.criterion_id, label=verdict.label)
        if verdict.cause is not None:
            metrics.add("assay_non_decisions_total", criterion=verdict.criterion_id, cause=verdict.cause)
        for flag in verdict.flags:
            metrics.add("assay_flags_total", flag=flag)
