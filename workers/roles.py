"""The workers by name: what each reads, what it needs, and how it runs. Where roles and runtime meet."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

from schemas.bom import Bom
from schemas.canary import CanaryRun
from schemas.drafts import Draft
from schemas.message import Message
from schemas.topics import (
    CANARY,
    CONTROL,
    DEAD_LETTERS,
    DRAFTS,
    HUMAN_QUEUE,
    REVISION_REQUESTS,
    SERVED,
    TELEMETRY,
    VERDICTS,
    Topic,
)
from workers.bom import load_bom, read_files
from workers.bom.labelled_set import canary_set
from workers.canary.certificate import certificate_of
from workers.canary.comparing import canary_run, finding
from workers.canary.judging import judge_set
from workers.canary.records import canary_record, runs_on_record, show_run
from workers.canary.schedule import keep_running
from workers.judge.build import Surroundings, build_audit, build_instrument, with_purse
from workers.judge.cache import VerdictCache, redis_client
from workers.judge.hedging import hedges_of
from workers.judge.instrument import Instrument
from workers.judge.limits.shared_spending import SharedSpending
from workers.judge.measuring import measure
from workers.judge.memory import VerdictMemory
from workers.judge.protocols import NoCounters
from workers.judge.providers.endpoints import Endpoints
from workers.judge.worker import JudgeWorker
from workers.reaching import endpoints_of, prices_of
from workers.reflector.worker import ReflectorWorker
from workers.runtime.connection import connection
from workers.runtime.control import ControlState, ControlWatch
from workers.runtime.handling import route
from workers.runtime.job import run_job
from workers.runtime.logs import event
from workers.runtime.metrics import Metrics
from workers.runtime.naming import Names
from workers.runtime.origin import Origin
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.route import Route
from workers.runtime.settings import Settings
from workers.runtime.telemetry import traced
from workers.runtime.worker import Worker
from workers.stats_consumer.running import run_stats

CANARY_AT_ONCE = 8
"""Items of the canary set that are judged at the same time: few, for live drafts need the model more."""

_Builder = Callable[[Settings, Bom, Metrics], AbstractAsyncContextManager[Route]]


class _Runner(Protocol):
    async def __call__(
        self,
        settings: Settings,
        bom: Bom,
        *,
        metrics: Metrics,
        stop: asyncio.Event,
        now: Callable[[], datetime],
        ready: Callable[[], None] | None,
    ) -> None: ...


Work = Callable[[ConfirmedProducer], Awaitable[None]]


class Job(NamedTuple):
    """A worker that reads no topic: it works at its own times and publishes what came of it."""

    name: str
    build: Callable[[Settings, Bom, Metrics], Work]
    writes: tuple[Topic, ...]


class Role(NamedTuple):
    """``writes`` are topics that must exist before the worker starts, beside the one it reads."""

    name: str
    build: _Builder
    writes: tuple[Topic, ...]


class OwnLoop(NamedTuple):
    """A role that reads in a loop of its own instead of through a pump."""

    name: str
    run: _Runner


async def run_role(
    role: Role | OwnLoop | Job,
    settings: Settings,
    *,
    metrics: Metrics,
    stop: asyncio.Event,
    ready: Callable[[], None] | None = None,
) -> None:
    """One worker from start to end. Raises BomError, SettingsError, DependencyUnavailable or FatalError."""
    bom = load_bom(read_files(settings.bom))
    if isinstance(role, OwnLoop):
        await role.run(settings, bom, metrics=metrics, stop=stop, now=_now, ready=ready)
        return
    names = Names(settings.topic_prefix)
    if isinstance(role, Job):
        event("starting", bom_version=bom.version, bom=bom.name)
        work = role.build(settings, bom, metrics)
        topics = {names.full(topic) for topic in role.writes}
        await run_job(work, settings, metrics=metrics, topics=topics, stop=stop, ready=ready)
        return
    async with role.build(settings, bom, metrics) as reads:
        worker = Worker(role.name, settings, [reads], metrics=metrics)
        watch = ControlWatch(connection(settings), names, changed=_obeyed_by(worker), failed=worker.fail)
        event("starting", bom_version=bom.version, bom=bom.name)
        topics = {names.full(topic) for topic in (*role.writes, CONTROL, DEAD_LETTERS)}
        await worker.run(topics=topics, stop=stop, ready=ready, before_reading=watch.start)
        await watch.stop()


def _obeyed_by(worker: Worker) -> Callable[[ControlState], None]:
    return lambda state: worker.hold() if state.killed else worker.release()


@asynccontextmanager
async def _judge(settings: Settings, bom: Bom, metrics: Metrics) -> AsyncIterator[Route]:
    async with AsyncExitStack() as stack:
        around = with_purse(bom, await _surroundings(settings, bom, metrics, stack))
        audit, memory = build_audit(bom, around), _memory(settings, bom, around)
        judge = JudgeWorker(
            bom, build_instrument(bom, around), audit=audit, now=_now, memory=memory,
            hedges=hedges_of(settings.hedging_words),
        )  # fmt: skip

        async def handle(draft: Draft, origin: Origin) -> list[Message]:
            messages = await judge(draft, origin)
            measure(messages, metrics)
            return messages

        told = stack.enter_context(traced(handle, DRAFTS.name, endpoint=settings.otel_endpoint, role="judge"))
        yield route(DRAFTS, told, settings, worker="judge", metrics=metrics, now=_now, bom_version=bom.version)


def _memory(settings: Settings, bom: Bom, around: Surroundings) -> VerdictMemory | None:
    """For judges that may change their mind; rules never do."""
    if around.cache is None or not any(criterion.judge for criterion in bom.charter.criteria.must_have):
        return None
    ttl_s = settings.redelivery_horizon_s
    return VerdictMemory(around.cache, ttl_s=ttl_s, counters=around.counters, clock=around.clock)


async def _surroundings(settings: Settings, bom: Bom, metrics: Metrics, stack: AsyncExitStack) -> Surroundings:
    loop, rng = asyncio.get_running_loop(), random.Random()
    counters = _Counting(metrics)
    cache = spending = None
    if settings.redis is None:
        event("no_cache", reason="ASSAY_REDIS is not set: a draft that comes again is judged again, perhaps otherwise")
    else:
        url = settings.redis.get_secret_value()
        cache = VerdictCache(redis_client(url), counters=counters, clock=loop.time, rng=rng)
        stack.push_async_callback(cache.close)
        spending = SharedSpending(redis_client(url, repeats=False), counters=counters, clock=loop.time)
        stack.push_async_callback(spending.close)
    endpoints = await endpoints_of(settings, bom, stack, counters)
    if endpoints is not None:
        _show_limits(endpoints, metrics)
    return Surroundings(
        clock=loop.time, rng=rng, counters=counters, prices=prices_of(settings), endpoints=endpoints, cache=cache,
        spending=spending,
    )  # fmt: skip


def _show_limits(endpoints: Endpoints, metrics: Metrics) -> None:
    """Bring what the limits are at into the metrics at every scrape."""

    def update() -> None:
        for name, reach in endpoints.by_name.items():
            limits = reach.limits
            metrics.set("assay_model_calls_in_flight", limits.turnstile.inside, endpoint=name)
            metrics.set("assay_model_calls_limit", limits.concurrency.limit, endpoint=name)
            metrics.set("assay_endpoint_broken", float(limits.broken), endpoint=name)

    metrics.before_scrape(update)


class _Counting:
    """The judges' counters, as metrics of the one table."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        self._metrics.add(f"assay_{name}_total", amount, **labels)


@asynccontextmanager
async def _reflector(settings: Settings, bom: Bom, metrics: Metrics) -> AsyncIterator[Route]:
    reflector = ReflectorWorker(bom, now=_now)
    with traced(reflector, VERDICTS.name, endpoint=settings.otel_endpoint, role="reflector") as told:
        yield route(VERDICTS, told, settings, worker="reflector", metrics=metrics, now=_now, bom_version=bom.version)


@asynccontextmanager
async def bare_judge(settings: Settings, bom: Bom) -> AsyncIterator[Instrument]:
    """The BOM's instrument without any cache: what is asked of it is judged, every time."""
    async with AsyncExitStack() as stack:
        around = Surroundings(
            clock=asyncio.get_running_loop().time, rng=random.Random(), counters=NoCounters(),
            prices=prices_of(settings), endpoints=await endpoints_of(settings, bom, stack, NoCounters()),
        )  # fmt: skip
        yield build_instrument(bom, with_purse(bom, around))


def _canary(settings: Settings, bom: Bom, metrics: Metrics) -> Work:
    certificate, names, kafka = certificate_of(bom), Names(settings.topic_prefix), connection(settings)
    items = canary_set(bom.files, frozenset(c.id for c in bom.charter.criteria.must_have))

    async def run(cause: str) -> CanaryRun:
        started = _now()
        async with bare_judge(settings, bom) as judge:
            today = await judge_set(items, judge.judge, at_once=CANARY_AT_ONCE)
        return canary_run(certificate, today, cause=cause, started=started, ended=_now())

    async def seen() -> set[str]:
        runs = await runs_on_record(kafka, names, certificate)
        if runs:
            show_run(runs[-1], metrics)
        return {run.event_id for run in runs}

    async def work(producer: ConfirmedProducer) -> None:
        async def publish(run: CanaryRun) -> None:
            await producer.produce([canary_record(run, names, at=_now())])
            show_run(run, metrics)
            found = finding(run)
            event("canary_run", flips=found.flips, threshold=found.threshold, alarm=found.alarm, run=run.event_id)

        interval_s = settings.canary_interval_h * 3600
        await keep_running(certificate, run, publish, seen, interval_s=interval_s, now=_now)

    return work


def _now() -> datetime:
    return datetime.now(UTC)


ROLES: dict[str, Role | OwnLoop | Job] = {
    "judge": Role("judge", _judge, (VERDICTS, SERVED, TELEMETRY, HUMAN_QUEUE)),
    "reflector": Role("reflector", _reflector, (REVISION_REQUESTS,)),
    "stats": OwnLoop("stats", run_stats),
    "canary": Job("canary", _canary, (CANARY,)),
}
