"""Reads the topics after a run and says what is wrong. It shares no code with the workers: raw records, plain JSON.

* lost: a draft without a verdict and without a dead letter
* two fates: a draft with a verdict and a dead letter
* invented: a verdict or a dead letter of a draft that was never published
* order: verdicts of one item not in the order of its drafts (repetitions after the first are allowed)
* changed repetition: two verdicts, or two decisions, of one event id that say different things
* decided twice: two decisions with different event ids for one round
* not decided: a round that was answered to its end, and no decision
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from aiokafka import AIOKafkaConsumer, TopicPartition

_TIMES = ("judged_at", "decided_at", "served_at")
_MEASURED = ("usage", "cached", "flags")


class Raw(NamedTuple):
    """A record as it stands on its topic."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Mapping[str, bytes]


class Changed(NamedTuple):
    """A repetition that says something else than the first one of its event id; when each was judged.

    ``owned`` is True when a verdict of either says that it was made without the cache.
    """

    kind: str
    event_id: str
    round_id: str
    first_at: datetime
    again_at: datetime
    owned: bool

    def __str__(self) -> str:
        return f"changed repetition: {self.kind} {self.event_id}, {self.first_at.time()} and {self.again_at.time()}"


@dataclass
class Findings:
    """What the checker counted. ``wrong`` is empty when all is well; repetitions are counted, not wrong.

    ``changed`` are those of ``wrong`` that say something else under an event id than the first did.
    """

    drafts: int = 0
    verdicts: int = 0
    dead_letters: int = 0
    decisions: int = 0
    repeated: int = 0
    changed: list[Changed] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def answered(self) -> int:
        return self.verdicts + self.dead_letters


def check(
    drafts: Sequence[Raw], verdicts: Sequence[Raw], telemetry: Sequence[Raw], dead_letters: Sequence[Raw]
) -> Findings:
    """All findings over the records of four topics, each partition in its order."""
    found = Findings(drafts=len(drafts))
    said = [(raw, json.loads(raw.value or b"")) for raw in verdicts]
    decided = [row for row in (json.loads(raw.value or b"") for raw in telemetry) if row["type"] == "item_decision"]
    _fates(found, drafts, said, dead_letters)
    _order(found, drafts, said)
    _repetitions(found, [value for _, value in said], "verdict")
    _repetitions(found, decided, "decision")
    _decisions(found, [value for _, value in said], decided)
    return found


def _fates(
    found: Findings, drafts: Sequence[Raw], said: Sequence[tuple[Raw, Any]], dead_letters: Sequence[Raw]
) -> None:
    published = {(raw.partition, raw.offset) for raw in drafts}
    judged = {_place(value["draft_uri"]) for _, value in said}
    aside = {
        (int(raw.headers["assay-dlq-partition"]), int(raw.headers["assay-dlq-offset"])) for raw in dead_letters
    }  # fmt: skip
    found.verdicts, found.dead_letters = len(judged), len(aside)
    found.repeated = len(said) - len(judged) + len(dead_letters) - len(aside)
    found.wrong += [f"lost: draft {place}" for place in sorted(published - judged - aside)]
    found.wrong += [f"two fates: draft {place}" for place in sorted(judged & aside)]
    found.wrong += [f"invented: draft {place}" for place in sorted((judged | aside) - published)]


def _order(found: Findings, drafts: Sequence[Raw], said: Sequence[tuple[Raw, Any]]) -> None:
    expected: dict[bytes | None, list[tuple[int, int]]] = defaultdict(list)
    keys = {(raw.partition, raw.offset): raw.key for raw in drafts}
    for place, key in keys.items():
        expected[key].append(place)
    first: dict[bytes | None, list[tuple[int, int]]] = defaultdict(list)
    seen: set[tuple[int, int]] = set()
    for _, value in said:
        place = _place(value["draft_uri"])
        if place in keys and keys[place] is not None and place not in seen:  # without a key there is no order
            seen.add(place)
            first[keys[place]].append(place)
    for key, places in first.items():
        if places != [place for place in expected[key] if place in seen]:
            found.wrong.append(f"order: item {key!r}")


def _repetitions(found: Findings, values: Iterable[Any], kind: str) -> None:
    firsts: dict[str, Any] = {}
    for value in values:
        first = firsts.setdefault(value["event_id"], value)
        if _meaning(first) != _meaning(value):
            owned = any("cache_down" in one["flags"] for said in (first, value) for one in said.get("verdicts", ()))
            at = _judged_at(first), _judged_at(value)
            found.changed.append(Changed(kind, value["event_id"], value["round_id"], *at, owned))
            found.wrong.append(str(found.changed[-1]))


def _decisions(found: Findings, verdicts: Iterable[Any], decided: Iterable[Any]) -> None:
    ids: dict[tuple[str, str], set[str]] = defaultdict(set)
    for decision in decided:
        ids[decision["item_id"], decision["round_id"]].add(decision["event_id"])
    found.decisions = len(ids)
    found.wrong += [f"decided twice: round {key}" for key, events in ids.items() if len(events) > 1]
    ended = {(value["item_id"], value["round_id"]) for value in verdicts if value["outcome"] != "revise"}
    found.wrong += [f"not decided: round {key}" for key in sorted(ended - ids.keys())]
    found.wrong += [f"decided without a verdict: round {key}" for key in sorted(ids.keys() - ended)]


def _judged_at(value: Any) -> datetime:
    return datetime.fromisoformat(value.get("judged_at") or value["decided_at"])


def _place(uri: str) -> tuple[int, int]:
    partition, offset = uri.rsplit("/", 2)[1:]
    return int(partition), int(offset)


def _meaning(value: Any) -> Any:
    """What must not change when a draft is judged again, or published again: all but times, measurements and place."""
    if isinstance(value, dict):
        left_out = (*_TIMES, *_MEASURED, "draft_uri")
        return {name: _meaning(one) for name, one in value.items() if name not in left_out}
    return [_meaning(one) for one in value] if isinstance(value, list) else value


async def read(kafka: str, topic: str) -> list[Raw]:
    """Everything on a topic, each partition in its order."""
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=kafka, auto_offset_reset="earliest", fetch_max_wait_ms=20)
    await consumer.start()
    try:
        partitions = [TopicPartition(topic, number) for number in sorted(consumer.partitions_for_topic(topic) or ())]
        ends = await consumer.end_offsets(partitions)
        records: list[Raw] = []
        while any([await consumer.position(partition) < end for partition, end in ends.items()]):
            for batch in (await consumer.getmany(timeout_ms=200)).values():
                records += [
                    Raw(one.partition, one.offset, one.key, one.value, dict(one.headers)) for one in batch
                ]  # fmt: skip
        return sorted(records, key=lambda raw: (raw.partition, raw.offset))
    finally:
        await consumer.stop()


def most_common(findings: Findings) -> str:
    """Kinds of what is wrong, counted: for a message that fits a screen."""
    kinds = Counter(line.partition(":")[0] for line in findings.wrong)
    return ", ".join(f"{kind} x{count}" for kind, count in kinds.most_common()) or "nothing wrong"
