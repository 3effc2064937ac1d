"""Runs one job from its start to its end: checks, health, producer; then the work, until it is told to stop.

A job reads no topic as a worker does: it does something at its own times and publishes what came of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence

from workers.runtime.connection import check, connection
from workers.runtime.health import HealthServer
from workers.runtime.logs import event
from workers.runtime.metrics import Metrics
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.settings import Settings
from workers.runtime.topic_limits import check_limits


async def run_job(
    work: Callable[[ConfirmedProducer], Awaitable[None]],
    settings: Settings,
    *,
    metrics: Metrics,
    topics: Iterable[str],
    stop: asyncio.Event,
    ready: Callable[[], None] | None = None,
) -> None:
    """Work until ``stop`` is set or the work raises, which ends the job with its error.

    ``topics`` are the full names that must exist. Raises SettingsError, DependencyUnavailable or FatalError.
    """
    producer = ConfirmedProducer(connection(settings), max_message_bytes=settings.max_message_bytes)

    def not_ready() -> Sequence[str]:
        return ([] if producer.ready else ["no producer"]) + (["stopping"] if stop.is_set() else [])

    health = HealthServer(
        host=settings.health_host, port=settings.health_port, alive=lambda: (), ready=not_ready, metrics=metrics
    )
    event("listening", host=settings.health_host, port=await health.start())
    try:
        written = frozenset(topics)
        await check(connection(settings), written)
        await check_limits(settings, written)
        await producer.start()
        event("started")
        if ready is not None:
            ready()
        await _until(stop, work(producer))
    finally:
        await producer.stop()
        await health.stop()


async def _until(stop: asyncio.Event, work: Awaitable[None]) -> None:
    async def stopped() -> None:
        await stop.wait()

    working, stopping = asyncio.ensure_future(work), asyncio.ensure_future(stopped())
    try:
        await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
    finally:
        for one in (working, stopping):
            one.cancel()
        await asyncio.gather(working, stopping, return_exceptions=True)
