"""``python -m benchmarks.stats_worker``: the stats worker drains 50,000 events; then ten kills while as many flow.

Events a second are counted from the worker's start to the last saved offset, starting the process included. The kills
compare the final cells with a batch, to the last integer; what is left of the run is an assertion.
"""

from __future__ import annotations

import asyncio
import os
import random
import time

from redis.asyncio import Redis

from schemas.topics import TOPICS
from tests.workers.stats_consumer.simulated import week
from tests.workers.stats_consumer.test_worker_dies import kill_while_counting, out, stats_process, wait_until_counted
from workers.embedded.services import ChildServices
from workers.runtime.connection import connection
from workers.runtime.naming import Names
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.settings import Settings

PARTITIONS = 12  # the embedded broker keeps 5 MiB a partition
KILLS = 10


async def drain(services: ChildServices, prefix: str) -> tuple[int, float]:
    """(events, seconds)."""
    for topic in TOPICS:
        services.create_topic(prefix + topic.name, min(topic.partitions, PARTITIONS))
    settings = Settings(kafka=services.kafka, topic_prefix=prefix)
    said = [m for n in range(2) for m in week(n, random.Random(n), drafts=6_500, labelled=2_500)]
    producer = ConfirmedProducer(connection(settings), max_message_bytes=1_000_000)
    await producer.start()
    for at in range(0, len(said), 500):
        await producer.produce([out(message, Names(prefix)) for message in said[at : at + 500]])
    await producer.stop()
    redis = Redis.from_url(services.redis)
    environ = {
        "ASSAY_KAFKA": services.kafka, "ASSAY_REDIS": services.redis, "ASSAY_TOPIC_PREFIX": prefix,
        "ASSAY_LABEL_WAIT_DAYS": "365", "ASSAY_REVISION_TTL_S": "1e9", "ASSAY_ASSESS_EVERY_S": "3600",
    }  # fmt: skip
    started = time.monotonic()
    with stats_process(environ):
        await wait_until_counted(redis, settings, deadline_s=300)
        seconds = time.monotonic() - started
    await redis.aclose()
    return len(said), seconds


async def main() -> None:
    with ChildServices() as services:
        events, seconds = await drain(services, f"drain{os.getpid()}.")
        print(f"drained {events} events in {seconds:.1f} s, the start included: {events / seconds:.0f} a second")
    with ChildServices() as services:
        sent = await kill_while_counting(services, f"kills{os.getpid()}.", kills=KILLS, weeks=3, drafts=5_200)
        print(f"{KILLS} kills while {sent} events flowed: the cells are the batch's")


if __name__ == "__main__":
    asyncio.run(main())
