"""From publishing a draft to reading its served output, with a model that answers at once and one draft at a time."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import aclosing

import numpy as np

from benchmarks.figures import Figure, at_most
from benchmarks.ground import Child, Ground, producer, records
from benchmarks.load import draft, instant_bom
from schemas.topics import SERVED
from workers.runtime.connection import connection
from workers.runtime.naming import Names
from workers.runtime.reading import follow
from workers.runtime.settings import Settings

DRAFTS, WARM_UP, APART_S = 300, 20, 0.02
TARGET_MS = 50.0


def latency(ground: Ground) -> list[Figure]:
    settings = ground.fresh(ground.bom(instant_bom))
    with Child("judge", settings, records=DRAFTS) as child:
        taken = asyncio.run(_publish_and_listen(settings))
        child.result()
    p50, p99 = np.percentile(taken, [50, 99])
    return [
        at_most(
            "latency",
            "publish to served, instant judge, median",
            f"{p50:,.1f} ms",
            f"{TARGET_MS:g} ms",
            ratio=p50 / TARGET_MS,
            target=1.0,
            notes=(f"p99 {p99:,.1f} ms; {DRAFTS} drafts, one every {1000 * APART_S:g} ms; {ground.cache}",),
        )
    ]


async def _publish_and_listen(settings: Settings) -> list[float]:
    """Milliseconds from before the send to after the read, one a draft, in the order of publishing."""
    sent: dict[str, float] = {}
    seen: dict[str, float] = {}
    listening = asyncio.create_task(_listen(settings, seen))
    async with producer(settings) as to:
        await asyncio.sleep(1.0)  # the reader is at its end by then
        for number in range(DRAFTS):
            made = draft(number, salt="-latency")
            (record,) = records(settings, [made])
            sent[made.item_id] = time.monotonic()
            await to.produce([record])
            await asyncio.sleep(APART_S)
        await asyncio.wait_for(listening, 20)
    return [1000 * (seen[item] - at) for item, at in list(sent.items())[WARM_UP:]]


async def _listen(settings: Settings, seen: dict[str, float]) -> None:
    topic = Names(settings.topic_prefix).full(SERVED)
    async with aclosing(follow(connection(settings), [topic], from_beginning=True)) as outputs:
        async for record in outputs:
            seen[json.loads(record.value or b"{}")["item_id"]] = time.monotonic()
            if len(seen) == DRAFTS:
                return
