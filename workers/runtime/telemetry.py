"""OpenTelemetry, where a collector is configured: one span a record, one evaluation event a verdict.

A record's span continues the trace of the draft that caused it. Names follow OpenTelemetry's semantic conventions for
messaging and for generative AI (``gen_ai.evaluation.result``); reasons and texts are never exported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from schemas.errors import SettingsError
from schemas.message import Message
from schemas.telemetry import AttemptRecord
from schemas.verdicts import CriterionVerdict
from workers.runtime.handling import Handler
from workers.runtime.origin import Origin

EVALUATION = "gen_ai.evaluation.result"


class Evaluation(NamedTuple):
    """One verdict as the attributes of an evaluation event."""

    attributes: dict[str, str | float]

    @classmethod
    def of(cls, verdict: CriterionVerdict, record: AttemptRecord) -> Evaluation:
        attributes: dict[str, str | float] = {
            "gen_ai.evaluation.name": verdict.criterion_id,
            "gen_ai.evaluation.score.label": str(verdict.label),
            "assay.bom.version": record.bom_version,
            "assay.item.id": record.item_id,
            "assay.attempt": record.attempt,
            "assay.judge": verdict.judge,
        }
        if verdict.cause is not None:
            attributes["error.type"] = str(verdict.cause)
        if verdict.served is not None and verdict.served.model is not None:
            attributes["gen_ai.response.model"] = verdict.served.model
        return cls(attributes)


class OtelTracing:
    """Spans and events through an OTLP exporter, batched in the background: a collector that is away costs nothing."""

    def __init__(self, tracers: Any, loggers: Any) -> None:
        """``tracers`` and ``loggers`` are OpenTelemetry providers; ``close`` shuts both down."""
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._tracers, self._loggers = tracers, loggers
        self._tracer, self._logger = tracers.get_tracer("assay"), loggers.get_logger("assay")
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def handling(self, topic: str, origin: Origin) -> Iterator[None]:
        """The span in which one message is handled."""
        from opentelemetry.trace import SpanKind

        carrier = {"traceparent": origin.trace.traceparent or "", "tracestate": origin.trace.tracestate or ""}
        attributes = {
            "messaging.system": "kafka",
            "messaging.operation.type": "process",
            "messaging.destination.name": topic,
            "messaging.message.id": origin.event_id,
        }
        with self._tracer.start_as_current_span(
            f"process {topic}",
            context=self._propagator.extract(carrier),
            kind=SpanKind.CONSUMER,
            attributes=attributes,
            record_exception=False,  # an exception's words may quote a draft
        ):
            yield

    def made(self, messages: Sequence[Message]) -> None:
        """Inside that span: an evaluation event for every verdict among what came of it."""
        from opentelemetry._logs import LogRecord

        for record in messages:
            if isinstance(record, AttemptRecord):
                for verdict in record.verdicts:
                    attributes = Evaluation.of(verdict, record).attributes
                    self._logger.emit(LogRecord(event_name=EVALUATION, attributes=attributes))

    def close(self) -> None:
        self._tracers.shutdown()
        self._loggers.shutdown()


@contextmanager
def traced(handler: Handler, topic: str, *, endpoint: str | None, role: str) -> Iterator[Handler]:
    """The handler, told to the collector at ``endpoint`` as long as the block lasts; itself where there is none."""
    if endpoint is None:
        yield handler
        return
    tracing = exporting(endpoint, role=role)

    async def handle(message: Any, origin: Origin) -> Sequence[Message]:
        with tracing.handling(topic, origin):
            messages = await handler(message, origin)
            tracing.made(messages)
            return messages

    try:
        yield handle
    finally:
        tracing.close()


def exporting(endpoint: str, *, role: str) -> OtelTracing:
    """Raises SettingsError when the packages for it are not installed."""
    try:
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk._logs import LoggerProvider
        from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise SettingsError("ASSAY_OTEL_ENDPOINT is set; install assay[otel] to export to it") from error
    base, resource = endpoint.rstrip("/"), Resource.create({"service.name": f"assay-{role}"})
    tracers, loggers = TracerProvider(resource=resource), LoggerProvider(resource=resource)
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{base}/v1/traces")))
    loggers.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(endpoint=f"{base}/v1/logs")))
    return OtelTracing(tracers, loggers)
