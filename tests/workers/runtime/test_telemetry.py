"""Spans continue the draft's trace; each verdict is one evaluation event; no text leaves the process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from schemas.codec import decode
from schemas.headers import Trace
from schemas.message import Message
from schemas.telemetry import AttemptRecord
from schemas.topics import TELEMETRY
from workers.runtime.origin import Origin
from workers.runtime.telemetry import EVALUATION, OtelTracing, traced

EXAMPLE = Path(__file__).parents[3] / "schemas" / "examples" / "telemetry" / "attempt.json"
TRACE = Trace("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")  # W3C Trace Context, section 3.2


def _attempt() -> AttemptRecord:
    record = decode(TELEMETRY, EXAMPLE.read_bytes()).message
    assert isinstance(record, AttemptRecord)
    return record


def test_a_span_continues_the_drafts_trace_and_every_verdict_is_an_event() -> None:
    spans, logs = InMemorySpanExporter(), InMemoryLogRecordExporter()
    tracers, loggers = TracerProvider(), LoggerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    loggers.add_log_record_processor(SimpleLogRecordProcessor(logs))
    tracing = OtelTracing(tracers, loggers)
    with tracing.handling("drafts", Origin("event-1", "kafka://drafts/0/1", TRACE)):
        tracing.made([_attempt()])
    (span,) = spans.get_finished_spans()
    assert span.parent is not None
    assert format(span.parent.span_id, "016x") == "00f067aa0ba902b7"
    assert format(span.context.trace_id, "032x") == "4bf92f3577b34da6a3ce929d0e0e4736"
    events = [one.log_record for one in logs.get_finished_logs()]
    assert [e.event_name for e in events] == [EVALUATION, EVALUATION]
    assert [(e.attributes or {})["gen_ai.evaluation.score.label"] for e in events] == ["fail", "pass"]
    assert all(format(e.trace_id or 0, "032x") == "4bf92f3577b34da6a3ce929d0e0e4736" for e in events)
    shown = str([e.attributes for e in events]) + str(span.attributes)
    assert "differs from the spec sheet" not in shown
    tracing.close()


@pytest.mark.anyio
async def test_without_a_collector_the_handler_is_itself() -> None:
    async def handler(message: Any, origin: Origin) -> Sequence[Message]:
        return []

    with traced(handler, "drafts", endpoint=None, role="judge") as told:
        assert told is handler


@pytest.mark.anyio
async def test_a_collector_that_is_away_costs_no_record() -> None:
    async def handler(message: Any, origin: Origin) -> Sequence[Message]:
        return [_attempt()]

    with traced(handler, "drafts", endpoint="http://127.0.0.1:9", role="judge") as told:
        assert len(await told(None, Origin("e", "kafka://drafts/0/1"))) == 1
