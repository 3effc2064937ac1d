"""Services and workers in this process, up when the block begins and down when it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import NamedTuple

from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from schemas.errors import AssayError, DependencyUnavailable
from schemas.topics import TOPICS
from workers.embedded.services import InProcess
from workers.roles import ROLES, run_role
from workers.runtime.connection import Connection, connection, missing_topics
from workers.runtime.metrics import Metrics
from workers.runtime.naming import Names
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.settings import Settings
from workers.runtime.topic_admin import copies, topic_admin
from workers.runtime.topic_plan import plan, wanted

EMBEDDED_PARTITIONS = 4


class Stage(NamedTuple):
    """Where things are, and a producer to publish with."""

    settings: Settings
    kafka: Connection
    names: Names
    producer: ConfirmedProducer


@asynccontextmanager
async def stage(settings: Settings, roles: Sequence[str]) -> AsyncIterator[Stage]:
    """The settings' services (embedded ones where none are named), their topics, and one worker of each role.

    A worker that stops by itself ends the block with its error.
    """
    async with AsyncExitStack() as stack:
        settings = await _with_services(settings, stack)
        kafka, names = connection(settings), Names(settings.topic_prefix)
        producer = ConfirmedProducer(kafka, max_message_bytes=settings.max_message_bytes)
        await producer.start()
        stack.push_async_callback(producer.stop)
        async with workers(settings, roles):
            yield Stage(settings, kafka, names, producer)


async def _with_services(settings: Settings, stack: AsyncExitStack) -> Settings:
    if settings.kafka is not None:
        await make_topics(settings)
        return settings
    services = InProcess()
    stack.callback(services.close)
    for topic in TOPICS:
        services.create_topic(settings.topic_prefix + topic.name, min(topic.partitions, EMBEDDED_PARTITIONS))
    redis = settings.redis or SecretStr(services.redis)
    return settings.model_copy(update={"kafka": services.kafka, "redis": redis})


async def make_topics(settings: Settings) -> None:
    """Create what is missing under the settings' prefix; what exists stays as it is."""
    kafka = connection(settings)
    largest = settings.max_message_bytes
    rows = [wanted(topic, settings.topic_prefix, max_message_bytes=largest) for topic in TOPICS]
    missing = await missing_topics(kafka, [row.name for row in rows])
    if not missing:
        return
    async with topic_admin(kafka) as admin:
        replication = copies(None, brokers=await admin.brokers())
        await admin.apply([action for action in plan(rows, {}, replication=replication) if action.topic in missing])


@asynccontextmanager
async def workers(settings: Settings, roles: Sequence[str]) -> AsyncIterator[None]:
    """One worker of each role as a task. Their failure cancels the block and is raised from it."""
    stop = asyncio.Event()
    tasks = []
    try:
        for role in roles:
            ready = asyncio.Event()
            metrics = Metrics(CollectorRegistry())
            work = run_role(ROLES[role], settings, metrics=metrics, stop=stop, ready=ready.set)
            tasks.append(asyncio.create_task(work, name=role))
            await _ready_or_failed(ready, tasks[-1])
        with _cancelled_by(tasks):
            yield
    except asyncio.CancelledError:
        _raise_failure(tasks)
        raise
    finally:
        stop.set()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _ready_or_failed(ready: asyncio.Event, worker: asyncio.Task[None]) -> None:
    waiting = asyncio.create_task(ready.wait())
    await asyncio.wait({waiting, worker}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if worker.done():
        worker.result()
        raise DependencyUnavailable(f"the {worker.get_name()} worker stopped before it was ready")


@contextmanager
def _cancelled_by(tasks: Sequence[asyncio.Task[None]]) -> Iterator[None]:
    """Cancels the running task when one of the workers ends inside the block."""
    block = asyncio.current_task()
    assert block is not None

    def ended(_: asyncio.Task[None]) -> None:
        block.cancel()

    for task in tasks:
        task.add_done_callback(ended)
    try:
        yield
    finally:
        for task in tasks:
            task.remove_done_callback(ended)


def _raise_failure(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        if task.done() and not task.cancelled() and isinstance(error := task.exception(), AssayError):
            raise error
