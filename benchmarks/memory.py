"""Does a worker's memory stay where it is while drafts go through?"""

from __future__ import annotations

import asyncio
import time

from benchmarks.figures import Figure, at_most
from benchmarks.ground import BATCH, Child, Ground, producer, records
from benchmarks.load import draft, rules_bom
from workers.runtime.settings import Settings

LONGEST_S = 35.0
BURST = 4_000
"""Drafts published at once in the beginning, twice the worker's window: it holds then what it ever holds."""

A_SECOND = 700
"""Drafts published a second: below what a worker does, so that none waits long enough for the broker to drop it."""

LOOKS = 8


def memory(ground: Ground) -> list[Figure]:
    settings = ground.fresh(ground.bom(rules_bom))
    with Child("judge", settings, records=10**9) as child:
        published = asyncio.run(_publish(settings))
        time.sleep(2.0)
        run = child.end()
    done = run.series[-1].done
    looks = [next(s for s in run.series if s.done >= done * part // LOOKS) for part in range(1, LOOKS + 1)]
    settled = looks[LOOKS // 4 - 1].rss_mib
    most = max(look.rss_mib for look in looks[LOOKS // 4 :])
    return [
        at_most(
            "memory",
            "resident memory, most after the first quarter",
            f"{most:,.1f} MiB",
            f"{settled:,.1f} MiB after a quarter",
            ratio=most / settled if done == published else float("inf"),
            target=1.05,
            notes=(
                f"{published:,} published, {done:,} judged; RSS: "
                + ", ".join(f"{look.rss_mib:.1f} at {look.done:,}" for look in looks),
                "outputs are read by nobody here, so the embedded broker's dropping the oldest of them costs nothing",
            ),
        )
    ]


async def _publish(settings: Settings) -> int:
    """A burst, then drafts at a steady rate; how many in all."""
    number, began = 0, time.monotonic()
    async with producer(settings) as to:
        while time.monotonic() - began < LONGEST_S:
            await to.produce(records(settings, [draft(n, salt="-memory") for n in range(number, number + BATCH)]))
            number += BATCH
            await asyncio.sleep(max(0.0, (number - BURST) / A_SECOND - (time.monotonic() - began)))
    return number
