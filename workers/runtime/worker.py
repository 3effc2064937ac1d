"""Runs one worker from its start to its end: checks, producer, pumps, intake; then drain, commit, leave."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager

from schemas.errors import AssayError, FatalError
from schemas.topics import DEAD_LETTERS
from workers.runtime.connection import check, connection
from workers.runtime.handling import DEAD_LETTER_ROOM
from workers.runtime.health import HealthServer
from workers.runtime.intake import Intake
from workers.runtime.logs import event, places
from workers.runtime.metrics import Metrics, export_pump
from workers.runtime.naming import Names
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.pump import Pump
from workers.runtime.pump_state import PumpOptions
from workers.runtime.route import Route
from workers.runtime.settings import Settings
from workers.runtime.topic_limits import check_limits

_LEAVE_S = 5.0  # a consumer in the middle of a rebalance would wait for it to end
_TICKS_LATE_S = 10.0


class Worker:
    """One running worker. ``hold`` and ``release`` are the kill switch; ``pumps`` are for tests and the demo."""

    def __init__(self, name: str, settings: Settings, routes: Sequence[Route], *, metrics: Metrics) -> None:
        self.name, self._settings, self._routes = name, settings, routes
        kafka = connection(settings)
        self._kafka = kafka
        dead_letters = Names(settings.topic_prefix).full(DEAD_LETTERS)
        self.producer = ConfirmedProducer(
            kafka,
            max_message_bytes=settings.max_message_bytes,
            limits={dead_letters: settings.max_message_bytes + DEAD_LETTER_ROOM},
            linger_ms=settings.linger_ms,
        )
        self._intake = Intake(
            kafka, session_timeout_s=settings.session_timeout_s, rebalance_timeout_s=settings.rebalance_timeout_s
        )
        self.pumps = [self._pump(route, metrics) for route in routes]
        self._health = HealthServer(
            host=settings.health_host, port=settings.health_port, alive=self.not_alive, ready=self.not_ready,
            metrics=metrics,
        )  # fmt: skip
        self.health_port = 0
        self._stopping = False

    async def run(
        self,
        *,
        topics: Iterable[str],
        stop: asyncio.Event,
        before_reading: Callable[[], Awaitable[None]] | None = None,
        ready: Callable[[], None] | None = None,
    ) -> None:
        """Work until ``stop`` is set or something is fatal.

        ``topics`` are full names, beside those read, that must exist and take records as large as the settings allow.

        ``before_reading`` is done when Kafka has been checked and before the first record is read.
        Raises SettingsError, DependencyUnavailable (no start) or FatalError (stopped itself).
        """
        async with self._serving_health():
            written = frozenset(topics)
            await check(self._kafka, written.union(route.topic for route in self._routes))
            await check_limits(self._settings, written)
            await self.producer.start()
            try:
                if before_reading is not None:
                    await before_reading()
                await self._work(stop, ready)
            finally:
                await self.producer.stop()
        self._raise_failure()

    def fail(self, error: BaseException) -> None:
        """Something beside the pumps broke: end the process."""
        self.pumps[0].fail(error)

    def hold(self) -> None:
        for pump in self.pumps:
            pump.hold()
        event("held", level=logging.WARNING)

    def release(self) -> None:
        for pump in self.pumps:
            pump.release()
        event("released")

    def not_alive(self) -> list[str]:
        """Why this process should be started again; empty when it need not be."""
        reasons = [f"failed: {type(pump.error).__name__}" for pump in self.pumps if pump.error is not None]
        late = [pump for pump in self.pumps if pump.ticked_at and time.monotonic() - pump.ticked_at > _TICKS_LATE_S]
        return reasons + ["the committer does not run"] * bool(late and not self._stopping)

    def not_ready(self) -> list[str]:
        """Why no work flows right now; empty when it does."""
        reasons = {
            "draining": self._stopping,
            "no producer": not self.producer.ready,
            "no partitions assigned yet": not all(pump.assigned for pump in self.pumps),
            "killed": any(pump.held for pump in self.pumps),
        }
        return self.not_alive() + [reason for reason, holds in reasons.items() if holds]

    def _pump(self, route: Route, metrics: Metrics) -> Pump:
        pump = Pump(route.process, self.producer, oversize=route.oversize, options=PumpOptions.of(self._settings))
        self._intake.subscribe(route.topic, route.group, pump)
        export_pump(metrics, route.topic, pump)
        return pump

    @asynccontextmanager
    async def _serving_health(self) -> AsyncIterator[None]:
        self.health_port = await self._health.start()
        event("listening", host=self._settings.health_host, port=self.health_port)
        try:
            yield
        finally:
            await self._health.stop()

    async def _work(self, stop: asyncio.Event, ready: Callable[[], None] | None) -> None:
        joining = asyncio.create_task(self._join(ready))
        try:
            await _first_of(joining, stop, *(pump.failed for pump in self.pumps))
        finally:
            joining.cancel()
            await asyncio.gather(joining, return_exceptions=True)
            await self._wind_down()
        if not joining.cancelled():
            await joining

    async def _join(self, ready: Callable[[], None] | None) -> None:
        """Join the groups, which may take a whole rebalance: beside the wait for the end and not before it."""
        await self._intake.start()
        event("started", routes=",".join(route.topic for route in self._routes))
        if ready is not None:
            ready()
        await asyncio.Event().wait()

    async def _wind_down(self) -> None:
        """Drain and commit, then leave the group: the other way round, what was drained would run again elsewhere."""
        self._stopping = True
        event("draining")
        await asyncio.gather(*(pump.stop() for pump in self.pumps))
        try:
            async with asyncio.timeout(_LEAVE_S):
                await self._intake.stop()
        except TimeoutError:
            event("left_without_goodbye", level=logging.WARNING)
        event("stopped", done=sum(pump.counts.done for pump in self.pumps))

    def _raise_failure(self) -> None:
        for pump in self.pumps:
            if isinstance(pump.error, AssayError):
                raise pump.error
            if pump.error is not None:
                where = places(pump.error.__traceback__)
                raise FatalError(f"unexpected {type(pump.error).__name__} at {where}") from pump.error


async def _first_of(task: asyncio.Task[None], *events: asyncio.Event) -> None:
    waiting = [asyncio.create_task(one.wait()) for one in events]
    try:
        await asyncio.wait([task, *waiting], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in waiting:
            one.cancel()
