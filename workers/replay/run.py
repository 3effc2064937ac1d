"""A replay from start to end: stage, recorded producer, tally."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from schemas.decisions import ItemDecision
from schemas.drafts import Draft
from schemas.message import Message
from schemas.revisions import RevisionRequest
from schemas.telemetry import AttemptRecord
from schemas.topics import TELEMETRY
from workers.bom import load_bom
from workers.local.processes import processes
from workers.local.producer_loop import ProducerLoop
from workers.local.stage import Stage, stage
from workers.replay.producer import RecordedProducer
from workers.replay.recordings import RecordedItem
from workers.replay.tally import Summary, Tally
from workers.runtime.records import InRecord
from workers.runtime.settings import Settings

SOURCE = "/assay/replay"


async def replay(
    items: Sequence[RecordedItem],
    files: Mapping[str, bytes],
    settings: Settings,
    *,
    judges: int = 1,
    progress: Callable[[int], None],
) -> Summary:
    """Run recorded items through the topics under a sealed BOM. ``progress`` is told how many items have ended.

    One judge works in this process; more of them are processes of their own, any of which may die.

    Topics lie under a prefix of their own, made from the BOM's version: a second run of the same recording repeats
    every event id, and counts nothing twice.
    """
    bom = load_bom(files)
    producer = RecordedProducer(items)
    tally = Tally(items, retry_budget=bom.charter.retry_budget, bom_version=bom.version)

    def answer(request: RevisionRequest) -> Draft | None:
        draft = producer.answer(request)
        if draft is None:
            tally.ran_out(request)
        return draft

    def heard(message: Message | None, _: InRecord) -> None:
        if isinstance(message, AttemptRecord):
            tally.attempt(message)
        elif isinstance(message, ItemDecision):
            tally.decision(message)
        progress(tally.ended)

    prefix = f"{settings.topic_prefix}replay-{bom.version.removeprefix('bom-')}."
    with _folder_of(files) as folder:
        own = settings.model_copy(update={"bom": folder, "topic_prefix": prefix, "group_prefix": prefix})
        roles = ["judge", "reflector"] if judges == 1 else ["reflector"]
        async with stage(own, roles) as on, _judges(judges, on):
            loop = ProducerLoop(on, source=SOURCE, answer=answer, heard=heard, topics=[TELEMETRY], now=_now)
            await loop.run(producer.first_drafts(), lambda: tally.complete)
    return tally.summary()


@asynccontextmanager
async def _judges(count: int, on: Stage) -> AsyncIterator[None]:
    if count == 1:
        yield
        return
    with processes("judge", count, on.settings):
        yield


@contextmanager
def _folder_of(files: Mapping[str, bytes]) -> Iterator[Path]:
    """The BOM as a folder, for workers that read it from disk."""
    with tempfile.TemporaryDirectory(prefix="assay-replay-") as name:
        for path, raw in files.items():
            place = Path(name) / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(raw)
        yield Path(name)


def _now() -> datetime:
    return datetime.now(UTC)
