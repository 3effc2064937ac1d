"""A scene for whole stories: topics of its own on the session's embedded services, workers as tasks, and an ear."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.request import urlopen

import yaml
from prometheus_client import CollectorRegistry

from schemas.codec import decode
from schemas.dead_letter import DeadLetter
from schemas.drafts import Draft, Revises
from schemas.errors import BadMessage
from schemas.headers import CE_TYPE, Headers, header
from schemas.message import Message
from schemas.revisions import RevisionRequest
from schemas.topics import CONTROL, DEAD_LETTERS, DRAFTS, TOPICS, Topic
from tests.services.process import free_port
from workers.bom import MANIFEST, read_files, seal
from workers.bom.example import example_bom
from workers.embedded.services import Services
from workers.publish.records import draft_record
from workers.roles import ROLES, run_role
from workers.runtime.connection import connection
from workers.runtime.metrics import Metrics
from workers.runtime.naming import Names
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.reading import follow
from workers.runtime.records import InRecord, OutRecord
from workers.runtime.settings import Settings, load

PASS = {"label": "pass", "reason": "Nothing is wrong.", "evidence_spans": [], "guideline_clause": None}
FAIL = {"label": "fail", "reason": "It is wrong.", "evidence_spans": ["wrong"], "guideline_clause": "G-1.1"}
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
CRITERION = "c1_spec_accuracy"
M = TypeVar("M", bound=Message)


def draft(item: str, text: str = "A red kettle.", **changes: Any) -> Draft:
    context = {
        "instruction": "Describe it.",
        "items": [{"role": "target", "metadata": {"name": "Kettle", "category": "kitchen"}}],
    }
    return Draft.model_validate({"item_id": item, "text": text, "context": context, **changes})


def revised(request: RevisionRequest, text: str) -> Draft:
    """A producer's answer to a revision request."""
    revises = Revises(revision_id=request.revision_id, round_id=request.round_id, judged_sha256=request.judged_sha256)
    return draft(request.item_id, text, attempt=request.next_attempt, revises=revises)


def one_judge_bom(
    folder: Path,
    *cases: Mapping[str, Any],
    default: Mapping[str, Any] | None = None,
    charter: Mapping[str, Any] | None = None,
    decision: Mapping[str, Any] | None = None,
    binding: Mapping[str, Any] | None = None,
) -> Path:
    """A sealed BOM of one criterion, judged by a script: passes, but for the ``cases``."""
    shutil.copytree(example_bom(), folder, dirs_exist_ok=True)
    for rubric in (folder / "rubrics").iterdir():
        if rubric.stem != CRITERION:
            rubric.unlink()
    criterion = {"id": CRITERION, "clauses": ["G-1.1"], "judge": "primary"}
    _change(folder / "charter.yaml", {"criteria": {"must_have": [criterion]}, **(charter or {})})
    _change(folder / "decision.yaml", decision or {})
    bindings = yaml.safe_load((folder / "bindings.yaml").read_text())
    bindings["judges"]["primary"] |= {"max_attempts": 1, **(binding or {})}
    (folder / "bindings.yaml").write_text(yaml.safe_dump(bindings))
    script = {"cases": list(cases), "default": default or {"reply": PASS}}
    (folder / "scripted_judge.yaml").write_text(yaml.safe_dump(script))
    seal(folder, {name: raw for name, raw in read_files(folder).items() if name != MANIFEST})
    return folder


def _change(file: Path, changes: Mapping[str, Any]) -> None:
    file.write_text(yaml.safe_dump({**yaml.safe_load(file.read_text()), **changes}))


class Working(NamedTuple):
    task: asyncio.Task[None]
    stop: asyncio.Event
    port: int


class Scene:
    """Workers that can be started and stopped, a producer, and everything that is said on the topics."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.names = settings, Names(settings.topic_prefix)
        self.kafka = connection(settings)
        self.producer = ConfirmedProducer(self.kafka, max_message_bytes=4 * 1024 * 1024)
        self.heard: list[tuple[Message | None, InRecord]] = []
        self._news = asyncio.Event()
        self._working: dict[str, Working] = {}

    async def start(self, role: str, *, port: int | None = None) -> None:
        """A worker of this role, until it is ready."""
        stop, ready, port = asyncio.Event(), asyncio.Event(), port or free_port()
        settings = self.settings.model_copy(update={"health_port": port})
        work = run_role(ROLES[role], settings, metrics=Metrics(CollectorRegistry()), stop=stop, ready=ready.set)
        task = asyncio.create_task(work, name=role)
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if task.done():
            task.result()
        self._working[role] = Working(task, stop, port)

    async def stop(self, role: str) -> None:
        working = self._working.pop(role)
        working.stop.set()
        await working.task

    async def stop_all(self) -> None:
        for role in list(self._working):
            await self.stop(role)

    def port(self, role: str) -> int:
        """Where its health server listens."""
        return self._working[role].port

    async def fetch(self, role: str, path: str) -> str:
        """What a worker's health server says."""

        def get() -> str:
            with urlopen(f"http://127.0.0.1:{self.port(role)}{path}") as answer:
                return str(answer.read().decode())

        return await asyncio.to_thread(get)

    async def publish(self, *drafts: Draft) -> None:
        await self.producer.produce([draft_record(one, self.names, source="/test", at=NOON) for one in drafts])

    async def put(self, topic: Topic, value: bytes | None, *, key: str | None = "k", headers: Headers = ()) -> None:
        name = self.names.full(topic)
        await self.producer.produce([OutRecord(name, None if key is None else key.encode(), value, headers)])

    def said(self, kind: type[M], item: str | None = None) -> list[M]:
        """Every message of a class so far, of one item or of all."""
        found = [message for message, _ in self.heard if isinstance(message, kind)]
        return [message for message in found if item is None or message.key() == item]

    def records(self, topic: Topic) -> list[InRecord]:
        return [record for _, record in self.heard if record.topic == self.names.full(topic)]

    def dead_letters(self) -> list[DeadLetter]:
        letters = [DeadLetter.from_headers(record.headers) for record in self.records(DEAD_LETTERS)]
        return [letter for letter in letters if letter is not None]

    async def until(self, holds: Callable[[], bool], *, timeout_s: float = 20.0) -> None:
        """Wait until something has been said. A worker that ends meanwhile fails the test with its error."""
        async with asyncio.timeout(timeout_s):
            while not holds():
                for working in self._working.values():
                    if working.task.done():
                        working.task.result()
                        raise AssertionError("a worker ended")
                self._news.clear()
                try:
                    await asyncio.wait_for(self._news.wait(), 0.2)
                except TimeoutError:
                    continue

    async def listen(self) -> None:
        topics = [self.names.full(topic) for topic in TOPICS if topic is not CONTROL]
        async with aclosing(follow(self.kafka, topics, from_beginning=True)) as records:
            async for record in records:
                self.heard.append((self._read(record), record))
                self._news.set()

    def _read(self, record: InRecord) -> Message | None:
        topic = self.names.topic(record.topic)
        if topic is None or topic is DRAFTS or not topic.messages:
            return None
        try:
            return decode(topic, record.value, ce_type=header(record.headers, CE_TYPE)).message
        except BadMessage:
            return None


@asynccontextmanager
async def scene(
    services: Services, prefix: str, *, bom: Path, roles: Sequence[str] = ("judge", "reflector"), **settings: Any
) -> AsyncIterator[Scene]:
    """A running scene. ``settings`` are names and values of settings; ``redis="none"`` runs without a cache."""
    given = {"kafka": services.kafka, "redis": services.redis, "bom": bom, "topic_prefix": f"{prefix}."} | settings
    given["group_prefix"] = given["topic_prefix"]
    if given["redis"] == "none":
        del given["redis"]
    on = Scene(load({f"ASSAY_{name.upper()}": str(value) for name, value in given.items()}))
    for topic in TOPICS:
        services.create_topic(on.names.full(topic), min(topic.partitions, 2))
    await on.producer.start()
    listening = asyncio.create_task(on.listen())
    try:
        for role in roles:
            await on.start(role)
        yield on
    finally:
        await on.stop_all()
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        await on.producer.stop()
