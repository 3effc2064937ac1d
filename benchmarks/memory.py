"""Does a worker's memory stay where it is while drafts go through?"""

from __future__ import annotations

import asyncio
import time

from benchmarks.figures import Figure, at_most
from benchmarks.ground import BATCH, Child, Ground, producer, records
from benchmarks.load import draft, rules_bom
from workers.runtime.settings import Settings

DRAFTS = 28_000
BURST = 12_000
"""Of them published at once in the beginning: more than the worker's window and its fetch buffers, 1 MiB a partition,
have room for. It holds then what it ever holds."""

A_SECOND = 700
"""Drafts published a second after that: below what a worker does."""

LOOKS = 8


def memory(ground: Ground) -> list[Figure]:
    settings = ground.fresh(ground.bom(rules_bom))
    with Child("judge", settings, records=DRAFTS) as child:
        asyncio.run(_publish(settings))
        run = child.result()
    looks = [next(s for s in run.series if s.done >= DRAFTS * part // LOOKS) for part in range(1, LOOKS + 1)]
    settled = looks[LOOKS // 4 - 1].rss_mib
    most = max(look.rss_mib for look in looks[LOOKS // 4 :])
    return [
        at_most(
            "memory",
            "resident memory, most after the first quarter",
            f"{most:,.1f} MiB",
            f"{settled:,.1f} MiB after a quarter",
            ratio=most / settled,
            target=1.05,
            notes=(
                f"{DRAFTS:,} drafts; RSS: " + ", ".join(f"{look.rss_mib:.1f} at {look.done:,}" for look in looks),
                "outputs are read by nobody here, so the embedded broker's dropping the oldest of them costs nothing",
            ),
        )
    ]


async def _publish(settings: Settings) -> None:
    """A burst, then drafts at a steady rate."""
    began = time.monotonic()
    async with producer(settings) as to:
        for first in range(0, DRAFTS, BATCH):
            await to.produce(records(settings, [draft(n, salt="-memory") for n in range(first, first + BATCH)]))
            await asyncio.sleep(max(0.0, (first + BATCH - BURST) / A_SECOND - (time.monotonic() - began)))
