"""The workers by name: what each reads, what it needs, and how it runs. Where roles and runtime meet."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

import httpx

from schemas.bom import Bom, Provider
from schemas.drafts import Draft
from schemas.errors import SettingsError
from schemas.message import Message
from schemas.topics import (
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
from workers.judge.build import Surroundings, build_instrument
from workers.judge.cache import VerdictCache, redis_client
from workers.judge.measuring import measure
from workers.judge.pricing import Prices, read_prices
from workers.judge.providers.http import http_client
from workers.judge.providers.openai_compatible import Endpoint
from workers.judge.worker import JudgeWorker
from workers.reflector.worker import ReflectorWorker
from workers.runtime.connection import connection
from workers.runtime.control import ControlState, ControlWatch
from workers.runtime.handling import route
from workers.runtime.logs import event
from workers.runtime.metrics import Metrics
from workers.runtime.naming import Names
from workers.runtime.origin import Origin
from workers.runtime.route import Route
from workers.runtime.settings import Settings
from workers.runtime.worker import Worker
from workers.stats_consumer.running import run_stats

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
    role: Role | OwnLoop,
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
        instrument = build_instrument(bom, await _surroundings(settings, bom, metrics, stack))
        judge = JudgeWorker(bom, instrument, now=_now)

        async def handle(draft: Draft, origin: Origin) -> list[Message]:
            messages = await judge(draft, origin)
            measure(messages, metrics)
            return messages

        yield route(DRAFTS, handle, settings, worker="judge", metrics=metrics, now=_now, bom_version=bom.version)


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
    asked = sum(criterion.judge is not None for criterion in bom.charter.criteria.must_have)
    # Every draft in flight may ask for each criterion; waiting for a connection would count as the model's silence.
    client = await stack.enter_async_context(http_client(max_connections=settings.concurrency * asked))
    return Endpoint(settings.model_base_url, settings.model_api_key) if settings.model_base_url else None, client


def prices_of(settings: Settings) -> Prices:
    if settings.prices is None:
        return {}
    try:
        return read_prices(settings.prices.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"ASSAY_PRICES: {settings.prices} cannot be read ({type(error).__name__})") from error


class _Counting:
    """The judges' counters, as metrics of the one table."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        self._metrics.add(f"assay_{name}_total", amount, **labels)


@asynccontextmanager
async def _reflector(settings: Settings, bom: Bom, metrics: Metrics) -> AsyncIterator[Route]:
    reflector = ReflectorWorker(bom, now=_now)
    yield route(VERDICTS, reflector, settings, worker="reflector", metrics=metrics, now=_now, bom_version=bom.version)


def _now() -> datetime:
    return datetime.now(UTC)


ROLES: dict[str, Role | OwnLoop] = {
    "judge": Role("judge", _judge, (VERDICTS, SERVED, TELEMETRY, HUMAN_QUEUE)),
    "reflector": Role("reflector", _reflector, (REVISION_REQUESTS,)),
    "stats": OwnLoop("stats", run_stats),
}
