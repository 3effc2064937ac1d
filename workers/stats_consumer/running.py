"""The stats worker put together and run: settings in, health served, everything closed at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import datetime, timedelta

import httpx
from redis.asyncio import Redis

from schemas.alerts import Alert
from schemas.bom import Bom
from schemas.errors import SettingsError
from schemas.reports import MetricReport
from schemas.topics import ALERTS, DEAD_LETTERS, METRICS
from workers.runtime.connection import check, connection
from workers.runtime.dead_letters import DeadLetterBox, DeadLetterLimit
from workers.runtime.handling import DEAD_LETTER_ROOM
from workers.runtime.health import HealthServer
from workers.runtime.logs import event
from workers.runtime.metrics import Metrics
from workers.runtime.naming import Names
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.settings import Settings
from workers.runtime.topic_limits import check_limits
from workers.stats_consumer.assurance import Assurance, Listener, Terms
from workers.stats_consumer.fold import Fold
from workers.stats_consumer.store import StatsStore
from workers.stats_consumer.webhook import Webhook
from workers.stats_consumer.worker import READS, Options, StatsWorker

WRITES = (METRICS, ALERTS, DEAD_LETTERS)
NEW_ITEMS = "new_item"
_REDIS_TIMEOUT_S = 10.0


async def run_stats(
    settings: Settings,
    bom: Bom,
    *,
    metrics: Metrics,
    stop: asyncio.Event,
    now: Callable[[], datetime],
    ready: Callable[[], None] | None = None,
) -> None:
    """From start to end. Raises SettingsError, DependencyUnavailable or FatalError."""
    if settings.redis is None:
        raise SettingsError("the stats worker keeps its counts in Redis: set ASSAY_REDIS")
    kafka, names = connection(settings), Names(settings.topic_prefix)
    async with AsyncExitStack() as stack:
        worker: StatsWorker | None = None
        health = HealthServer(
            host=settings.health_host, port=settings.health_port, alive=lambda: [],
            ready=lambda: [] if worker and worker.counting else ["waiting: another stats worker counts"],
            metrics=metrics,
        )  # fmt: skip
        event("listening", host=settings.health_host, port=await health.start())
        stack.push_async_callback(health.stop)
        await check(kafka, {names.full(topic) for topic in (*READS, *WRITES)})
        await check_limits(settings, map(names.full, WRITES))
        producer = _producer(settings, names)
        await producer.start()
        stack.push_async_callback(producer.stop)
        redis = Redis.from_url(settings.redis.get_secret_value(), socket_timeout=_REDIS_TIMEOUT_S)
        stack.push_async_callback(redis.aclose)
        listener = await _listener(settings, metrics, stack)
        worker = _worker(settings, bom, producer, redis, listener, metrics, now)
        metrics.before_scrape(lambda: metrics.set("assay_stats_counting", float(worker.counting)))
        await worker.run(stop, ready=ready)


def watched_slices(bom: Bom) -> tuple[str, ...]:
    """What is counted apart: the slices that the charter oversamples, and new items, where drift shows first."""
    return tuple(sorted({NEW_ITEMS, *bom.charter.hitl.oversample}))


def _worker(
    settings: Settings,
    bom: Bom,
    producer: ConfirmedProducer,
    redis: Redis,
    listener: Listener,
    metrics: Metrics,
    now: Callable[[], datetime],
) -> StatsWorker:
    names, slices = Names(settings.topic_prefix), watched_slices(bom)
    terms = Terms(
        revision_ttl=timedelta(seconds=settings.revision_ttl_s), label_wait=timedelta(days=settings.label_wait_days),
        weeks_kept=settings.weeks_kept, again_after=timedelta(seconds=settings.alert_again_s),
    )  # fmt: skip

    def new_fold(rows: Mapping[str, bytes]) -> Fold:
        return Fold.restored(rows, watched=slices)

    def new_assurance(rows: Mapping[str, bytes]) -> Assurance:
        return Assurance(bom, rows, terms=terms, listener=listener)

    box = DeadLetterBox(
        topic=names.full(DEAD_LETTERS), limit_bytes=settings.max_message_bytes + DEAD_LETTER_ROOM,
        group=f"{settings.group_prefix}stats", worker="stats", bom_version=bom.version,
    )  # fmt: skip
    limit = DeadLetterLimit(
        worker="stats", topic="what it counts",
        ratio=settings.dead_letter_ratio, window=settings.dead_letter_window, in_a_row=settings.dead_letters_in_a_row,
    )  # fmt: skip
    return StatsWorker(
        StatsStore(redis, name=f"{settings.topic_prefix}stats"), producer, connection(settings), names,
        new_fold=new_fold, new_assurance=new_assurance, box=box, limit=limit, metrics=metrics, now=now,
        options=Options(settings.assess_every_s, settings.stall_timeout_s),
    )  # fmt: skip


def _producer(settings: Settings, names: Names) -> ConfirmedProducer:
    return ConfirmedProducer(
        connection(settings), max_message_bytes=settings.max_message_bytes, linger_ms=settings.linger_ms,
        limits={names.full(DEAD_LETTERS): settings.max_message_bytes + DEAD_LETTER_ROOM},
    )  # fmt: skip


async def _listener(settings: Settings, metrics: Metrics, stack: AsyncExitStack) -> Listener:
    webhook = await _webhook(settings, metrics, stack)

    def listen(alerts: Sequence[Alert], report: MetricReport | None, firing: int) -> None:
        for alert in alerts:
            metrics.add("assay_alerts_told_total", kind=alert.kind, state=alert.state)
        metrics.set("assay_alerts_firing", firing)
        if report is not None:
            show(report, metrics)
        if webhook is not None:
            webhook.tell(alerts)

    return listen


async def _webhook(settings: Settings, metrics: Metrics, stack: AsyncExitStack) -> Webhook | None:
    if settings.webhook is None:
        return None
    client = await stack.enter_async_context(httpx.AsyncClient())
    key = settings.webhook_key.get_secret_value() if settings.webhook_key else ""
    webhook = Webhook(
        client, settings.webhook.get_secret_value(), shape=settings.webhook_shape, key=key,
        failed=lambda: metrics.add("assay_webhook_failures_total"),
    )  # fmt: skip
    posting = asyncio.create_task(webhook.run())
    stack.callback(posting.cancel)
    return webhook


def show(report: MetricReport, metrics: Metrics) -> None:
    """The newest report as gauges. A figure that does not exist has none; how many there are is one."""
    metrics.clear("assay_figure")
    missing = dict.fromkeys((str(figure.health) for figure in report.figures), 0)
    for figure in report.figures:
        if figure.value is None:
            missing[figure.health] += 1
            continue
        scope = ",".join(f"{name}={value}" for name, value in sorted(figure.scope.items()))
        metrics.set("assay_figure", figure.value, health=figure.health, figure=figure.name, scope=scope)
    for health, n in missing.items():
        metrics.set("assay_figures_unavailable", n, health=health)
