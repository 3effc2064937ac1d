"""Every metric of the project in one table: name, kind, unit, labels, meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.metrics_core import Metric as Collected
from prometheus_client.registry import Collector

from workers.runtime.pump import Pump


class Kind(StrEnum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Metric(NamedTuple):
    """One row. A counter's name ends in ``_total``, a unit is part of the name."""

    name: str
    kind: Kind
    unit: str
    labels: tuple[str, ...]
    meaning: str
    buckets: tuple[float, ...] = ()


disable_created_metrics()  # type: ignore[no-untyped-call]  # they tell when a scrape first saw a counter, not its begin
_TOPIC = ("topic",)
_BOM = ("bom_version",)
_ENDPOINT = ("endpoint",)
_WHY = ("endpoint", "why")
_SECONDS = (0.001, 0.005, 0.02, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)

METRICS: tuple[Metric, ...] = (
    Metric("assay_records_admitted_total", Kind.COUNTER, "records", _TOPIC, "records taken from Kafka to be handled"),
    Metric("assay_records_done_total", Kind.COUNTER, "records", _TOPIC, "records whose outputs Kafka has confirmed"),
    Metric("assay_records_skipped_total", Kind.COUNTER, "records", _TOPIC, "records finished before a restart"),
    Metric("assay_records_dropped_total", Kind.COUNTER, "records", _TOPIC, "records left to another owner"),
    Metric("assay_results_discarded_total", Kind.COUNTER, "records", _TOPIC, "results thrown away, run again"),
    Metric("assay_outputs_oversize_total", Kind.COUNTER, "records", _TOPIC, "records with an output above the limit"),
    Metric("assay_commits_total", Kind.COUNTER, "commits", _TOPIC, "offset commits that passed"),
    Metric("assay_commits_refused_total", Kind.COUNTER, "commits", _TOPIC, "offset commits that did not pass"),
    Metric("assay_revocations_total", Kind.COUNTER, "rebalances", _TOPIC, "times that partitions were taken away"),
    Metric("assay_dead_letters_total", Kind.COUNTER, "records", ("topic", "kind"), "records set aside, by reason"),
    Metric("assay_dependency_retries_total", Kind.COUNTER, "tries", ("topic",), "records tried again later"),
    Metric("assay_partitions", Kind.GAUGE, "partitions", _TOPIC, "partitions this worker has"),
    Metric("assay_in_memory_records", Kind.GAUGE, "records", _TOPIC, "records waiting or running"),
    Metric("assay_running_records", Kind.GAUGE, "records", _TOPIC, "records running"),
    Metric("assay_oldest_unfinished_seconds", Kind.GAUGE, "seconds", _TOPIC, "longest time without progress"),
    Metric("assay_lag_records", Kind.GAUGE, "records", _TOPIC, "records in Kafka not yet committed past"),
    Metric("assay_commit_metadata_bytes", Kind.GAUGE, "bytes", _TOPIC, "largest commit metadata; Kafka takes 4096"),
    Metric("assay_last_drain_seconds", Kind.GAUGE, "seconds", _TOPIC, "how long the last drain took"),
    Metric("assay_paused", Kind.GAUGE, "boolean", _TOPIC, "1 while reading is paused"),
    Metric("assay_attempts_total", Kind.COUNTER, "attempts", ("outcome",), "drafts judged, by the gate's outcome"),
    Metric("assay_decisions_total", Kind.COUNTER, "rounds", ("decision",), "rounds ended, by their decision"),
    Metric("assay_verdicts_total", Kind.COUNTER, "verdicts", ("criterion", "label"), "verdicts, by label"),
    Metric("assay_audits_total", Kind.COUNTER, "verdicts", ("criterion", "label"), "audits of served drafts, by label"),
    Metric("assay_non_decisions_total", Kind.COUNTER, "verdicts", ("criterion", "cause"), "non-decisions, by cause"),
    Metric("assay_flags_total", Kind.COUNTER, "flags", ("flag",), "flags raised on attempts and verdicts"),
    Metric("assay_judging_seconds", Kind.HISTOGRAM, "seconds", (), "time to judge one draft", _SECONDS),
    Metric("assay_model_calls_total", Kind.COUNTER, "calls", ("criterion",), "calls of the model"),
    Metric("assay_model_non_decisions_total", Kind.COUNTER, "verdicts", ("criterion", "cause"), "model abstains"),
    Metric("assay_model_cost_usd_total", Kind.COUNTER, "US dollars", ("criterion",), "known cost of the model"),
    Metric("assay_model_cost_unknown_total", Kind.COUNTER, "verdicts", ("criterion",), "verdicts of unknown cost"),
    Metric(
        "assay_model_calls_withheld_total", Kind.COUNTER, "calls", _WHY, "calls not made: breaker, rate, concurrency"
    ),
    Metric("assay_model_waits_total", Kind.COUNTER, "calls", _WHY, "calls that waited for their turn"),
    Metric("assay_model_wait_seconds_total", Kind.COUNTER, "seconds", _WHY, "time that calls waited for their turn"),
    Metric("assay_model_throttled_total", Kind.COUNTER, "falls", ("endpoint", "cause"), "falls of the calls limit"),
    Metric("assay_model_calls_in_flight", Kind.GAUGE, "calls", _ENDPOINT, "calls that run or have their turn"),
    Metric("assay_model_calls_limit", Kind.GAUGE, "calls", _ENDPOINT, "calls that may run at the same time, now"),
    Metric("assay_breaker_changes_total", Kind.COUNTER, "changes", ("endpoint", "to"), "to open, to closed"),
    Metric("assay_endpoint_broken", Kind.GAUGE, "boolean", _ENDPOINT, "1 while the endpoint is left alone"),
    Metric("assay_over_budget_total", Kind.COUNTER, "calls", (), "calls not made because a cap on cost was reached"),
    Metric("assay_spending_failures_total", Kind.COUNTER, "failures", ("error",), "sums that Redis did not take"),
    Metric("assay_fallback_judgements_total", Kind.COUNTER, "verdicts", ("criterion", "cause"), "by a fallback judge"),
    Metric("assay_cache_lookups_total", Kind.COUNTER, "lookups", ("criterion", "outcome"), "hit, miss, corrupt, down"),
    Metric("assay_cache_corrupt_entries_total", Kind.COUNTER, "entries", (), "unreadable entries that were replaced"),
    Metric("assay_cache_failures_total", Kind.COUNTER, "failures", ("error",), "times that Redis did not answer"),
    Metric(
        "assay_verdict_memory_total",
        Kind.COUNTER,
        "drafts",
        ("outcome",),
        "non-decisions kept for a draft that comes again: kept, repeated, corrupt, down",
    ),
    Metric("assay_canary_flips", Kind.GAUGE, "verdicts", _BOM, "verdicts of the last canary run that flipped"),
    Metric("assay_canary_threshold", Kind.GAUGE, "verdicts", _BOM, "flips that are too many; absent: no threshold"),
    Metric("assay_canary_alarm", Kind.GAUGE, "boolean", _BOM, "1: too many flips, or an injection case flipped"),
    Metric(
        "assay_canary_run_timestamp_seconds", Kind.GAUGE, "seconds", _BOM, "when the last canary run ended, since 1970"
    ),
    Metric("assay_stats_events_total", Kind.COUNTER, "records", (), "records counted"),
    Metric("assay_stats_lag_records", Kind.GAUGE, "records", _TOPIC, "records in Kafka not yet counted"),
    Metric("assay_stats_counting", Kind.GAUGE, "boolean", (), "1 on the one stats worker that counts"),
    Metric("assay_figure", Kind.GAUGE, "as named", ("health", "figure", "scope"), "this week's figures that exist"),
    Metric("assay_figures_unavailable", Kind.GAUGE, "figures", ("health",), "this week's figures without a number"),
    Metric("assay_alerts_told_total", Kind.COUNTER, "alerts", ("kind", "state"), "alerts published"),
    Metric("assay_alerts_firing", Kind.GAUGE, "alerts", (), "alerts that fire now"),
    Metric("assay_webhook_failures_total", Kind.COUNTER, "alerts", (), "alerts that the webhook did not take"),
)
"""A new metric is a new row; nothing else in the project names one."""


class Metrics:
    """The table's metrics in one registry. An undeclared name is a KeyError, a wrong label a ValueError."""

    def __init__(self, registry: CollectorRegistry, table: Sequence[Metric] = METRICS) -> None:
        self.registry = registry
        registry.register(_Before(self._bring_in))  # before the counters, since it is asked in this order
        self._counted: dict[tuple[str, ...], float] = {}
        self._by_name: dict[str, Counter | Gauge | Histogram] = {row.name: _made(row, registry) for row in table}
        self._before_scrape: list[Callable[[], None]] = []
        self._counters: dict[tuple[str, ...], Counter] = {}

    def add(self, name: str, amount: float = 1, **labels: str) -> None:
        """Count up. The registry, where that takes five times as long, learns of it when somebody looks."""
        known = (name, *labels, *labels.values())
        if known not in self._counted:
            metric = self._by_name[name]
            assert isinstance(metric, Counter)
            self._counters[known] = metric.labels(**labels) if labels else metric
            self._counted[known] = 0.0
        self._counted[known] += amount

    def _bring_in(self) -> None:
        for known, amount in self._counted.items():
            self._counters[known].inc(amount)
            self._counted[known] = 0.0

    def set(self, name: str, value: float, **labels: str) -> None:
        metric = self._by_name[name]
        assert isinstance(metric, Gauge)
        (metric.labels(**labels) if labels else metric).set(value)

    def clear(self, name: str) -> None:
        """Drop every label set of a metric: what is no longer so must not stand there."""
        self._by_name[name].clear()

    def observe(self, name: str, value: float, **labels: str) -> None:
        metric = self._by_name[name]
        assert isinstance(metric, Histogram)
        (metric.labels(**labels) if labels else metric).observe(value)

    def before_scrape(self, update: Callable[[], None]) -> None:
        """``update`` brings numbers in that are kept elsewhere, whenever somebody asks for them."""
        self._before_scrape.append(update)

    def refresh(self) -> None:
        for update in self._before_scrape:
            update()


class _Before(Collector):
    """Stands before the counters in their registry, and adds nothing to it."""

    def __init__(self, bring_in: Callable[[], None]) -> None:
        self._bring_in = bring_in

    def describe(self) -> Sequence[Collected]:
        return ()

    def collect(self) -> Sequence[Collected]:
        self._bring_in()
        return ()


def _made(row: Metric, registry: CollectorRegistry) -> Counter | Gauge | Histogram:
    if row.kind is Kind.HISTOGRAM:
        return Histogram(row.name, row.meaning, row.labels, registry=registry, buckets=row.buckets)
    return (Counter if row.kind is Kind.COUNTER else Gauge)(row.name, row.meaning, row.labels, registry=registry)


_COUNTS = {
    "assay_records_admitted_total": "admitted",
    "assay_records_done_total": "done",
    "assay_records_skipped_total": "skipped",
    "assay_records_dropped_total": "dropped",
    "assay_results_discarded_total": "discarded",
    "assay_outputs_oversize_total": "oversize",
    "assay_commits_total": "commits",
    "assay_commits_refused_total": "commits_refused",
    "assay_revocations_total": "revocations",
}
_GAUGES = {
    "assay_partitions": "partitions",
    "assay_in_memory_records": "in_memory",
    "assay_running_records": "running",
    "assay_oldest_unfinished_seconds": "oldest_s",
    "assay_lag_records": "lag",
    "assay_commit_metadata_bytes": "metadata_bytes",
    "assay_last_drain_seconds": "last_drain_s",
    "assay_paused": "paused",
}


def export_pump(metrics: Metrics, topic: str, pump: Pump) -> None:
    """Bring a pump's own numbers into the metrics at every scrape."""
    told = dict.fromkeys(_COUNTS, 0)

    def update() -> None:
        for name, field in _COUNTS.items():
            now = getattr(pump.counts, field)
            metrics.add(name, now - told[name], topic=topic)
            told[name] = now
        for name, field in _GAUGES.items():
            metrics.set(name, float(getattr(pump.state, field)), topic=topic)

    metrics.before_scrape(update)
