"""The workers by name: what each reads, what it needs, and how it runs. Where roles and runtime meet."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import NamedTuple

import httpx

from schemas.bom import Bom, Provider
from schemas.canary import CanaryRun
from schemas.drafts import Draft
from schemas.errors import SettingsError
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
from workers.canary.records import canary_record, runs_on_record
from workers.canary.schedule import keep_running
from workers.judge.build import Surroundings, build_audit, build_instrument, calls_of
from workers.judge.cache import VerdictCache, redis_client
from workers.judge.instrument import Instrument
from workers.judge.measuring import measure
from workers.judge.pricing import Prices, read_prices
from workers.judge.protocols import NoCounters
from workers.judge.providers.http import http_client
from workers.judge.providers.openai_compatible import Endpoint
from workers.judge.worker import JudgeWorker
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

CANARY_AT_ONCE = 8
"""Items of the canary set that are judged at the same time: few, for live drafts need the model more."""

_Builder = Callable[[Settings, Bom, Metrics], AbstractAsyncContextManager[Route]]


Work = Callable[[ConfirmedProducer], Awaitable[None]]


class Job(NamedTuple):
    """A worker that reads no topic: it works at its own times and publishes what came of it."""

    name: str
    build: Callable[[Settings, Bom], Work]
    writes: tuple[Topic, ...]


class Role(NamedTuple):
    """``writes`` are topics that must exist before the worker starts, beside the one it reads."""

    name: str
    build: _Builder
    writes: tuple[Topic, ...]


async def run_role(
    role: Role | Job,
    settings: Settings,
    *,
    metrics: Metrics,
    stop: asyncio.Event,
    ready: Callable[[], None] | None = None,
) -> None:
    """One worker from start to end. Raises BomError, SettingsError, DependencyUnavailable or FatalError."""
    bom = load_bom(read_files(settings.bom))
    names = Names(settings.topic_prefix)
    if isinstance(role, Job):
        event("starting", bom_version=bom.version, bom=bom.name)
        work = role.build(settings, bom)
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
        around = await _surroundings(settings, bom, metrics, stack)
        judge = JudgeWorker(bom, build_instrument(bom, around), audit=build_audit(bom, around), now=_now)

        async def handle(draft: Draft, origin: Origin) -> list[Message]:
            messages = await judge(draft, origin)
            measure(messages, metrics)
            return messages

        told = stack.enter_context(traced(handle, DRAFTS.name, endpoint=settings.otel_endpoint, role="judge"))
        yield route(DRAFTS, told, settings, worker="judge", metrics=metrics, now=_now, bom_version=bom.version)


async def _surroundings(settings: Settings, bom: Bom, metrics: Metrics, stack: AsyncExitStack) -> Surroundings:
    loop, rng = asyncio.get_running_loop(), random.Random()
    counters = _Counting(metrics)
    cache = None
    if settings.redis is None:
        event("no_cache", reason="ASSAY_REDIS is not set")
    else:
        cache = VerdictCache(
            redis_client(settings.redis.get_secret_value()), counters=counters, clock=loop.time, rng=rng
        )
        stack.push_async_callback(cache.close)
    endpoint, client = await endpoint_of(settings, bom, stack)
    return Surroundings(
        clock=loop.time, rng=rng, counters=counters, prices=prices_of(settings), endpoint=endpoint, client=client,
        cache=cache,
    )  # fmt: skip


async def endpoint_of(
    settings: Settings, bom: Bom, stack: AsyncExitStack
) -> tuple[Endpoint | None, httpx.AsyncClient | None]:
    """Where the BOM's model is served and a client to ask it with; (None, None) where no binding is over HTTP."""
    if all(binding.provider is not Provider.OPENAI_COMPATIBLE for binding in bom.bindings.values()):
        return None, None
    asked = calls_of(bom)
    # Every draft in flight may ask for each of them; waiting for a connection would count as the model's silence.
    client = await stack.enter_async_context(http_client(max_connections=settings.concurrency * asked))
    return Endpoint(settings.model_base_url, settings.model_api_key) if settings.model_base_url else None, client


def prices_of(settings: Settings) -> Prices:
    if settings.prices is None:
        return {}
    try:
        return read_prices(settings.prices.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"ASSAY_PRICES: {settings.prices} cannot be read ({type(error).__name__})") from error
    except SettingsError as error:
        raise SettingsError(f"ASSAY_PRICES: {settings.prices}: {error}") from error


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
        endpoint, client = await endpoint_of(settings, bom, stack)
        around = Surroundings(
            clock=asyncio.get_running_loop().time, rng=random.Random(), counters=NoCounters(),
            prices=prices_of(settings), endpoint=endpoint, client=client,
        )  # fmt: skip
        yield build_instrument(bom, around)


def _canary(settings: Settings, bom: Bom) -> Work:
    certificate, names, kafka = certificate_of(bom), Names(settings.topic_prefix), connection(settings)
    items = canary_set(bom.files, frozenset(c.id for c in bom.charter.criteria.must_have))

    async def run(cause: str) -> CanaryRun:
        started = _now()
        async with bare_judge(settings, bom) as judge:
            today = await judge_set(items, judge.judge, at_once=CANARY_AT_ONCE)
        return canary_run(certificate, today, cause=cause, started=started, ended=_now())

    async def seen() -> set[str]:
        return {run.event_id for run in await runs_on_record(kafka, names, certificate)}

    async def work(producer: ConfirmedProducer) -> None:
        async def publish(run: CanaryRun) -> None:
            await producer.produce([canary_record(run, names, at=_now())])
            found = finding(run)
            event("canary_run", flips=found.flips, threshold=found.threshold, alarm=found.alarm, run=run.event_id)

        interval_s = settings.canary_interval_h * 3600
        await keep_running(certificate, run, publish, seen, interval_s=interval_s, now=_now)

    return work


def _now() -> datetime:
    return datetime.now(UTC)


ROLES: dict[str, Role | Job] = {
    "judge": Role("judge", _judge, (VERDICTS, SERVED, TELEMETRY, HUMAN_QUEUE)),
    "reflector": Role("reflector", _reflector, (REVISION_REQUESTS,)),
    "canary": Job("canary", _canary, (CANARY,)),
}
