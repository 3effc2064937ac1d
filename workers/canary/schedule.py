"""One canary run in every slot of time: a restart repeats nothing that is on record already."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import NamedTuple

from schemas.canary import CanaryRun
from workers.canary.certificate import Certificate
from workers.canary.comparing import run_id

Seen = Callable[[], Awaitable[set[str]]]
"""The ids of the runs on record."""


class Slot(NamedTuple):
    """A stretch of time between two whole multiples of the interval since 1970, in UTC: by default a day."""

    start: datetime
    end: datetime

    @property
    def cause(self) -> str:
        return f"scheduled {self.start.isoformat()} to {self.end.isoformat()}"


def slot_of(now: datetime, *, interval_s: float) -> Slot:
    """The slot that a moment lies in."""
    number = now.timestamp() // interval_s
    start = number * interval_s
    return Slot(datetime.fromtimestamp(start, UTC), datetime.fromtimestamp(start + interval_s, UTC))


async def keep_running(
    certificate: Certificate,
    run: Callable[[str], Awaitable[CanaryRun]],
    publish: Callable[[CanaryRun], Awaitable[None]],
    seen: Seen,
    *,
    interval_s: float,
    now: Callable[[], datetime],
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """For ever: run in every slot that has no run yet, then wait for the next. ``run`` is given the run's cause."""
    while True:
        slot = slot_of(now(), interval_s=interval_s)
        if run_id(certificate, slot.cause) not in await seen():
            await publish(await run(slot.cause))
        await sleep(max(0.0, (slot.end - now()).total_seconds()))
