"""What has to be done so that a cluster's topics are as the one table wants them: pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from schemas.topics import MAX_MESSAGE_BYTES, Topic

_DAY_MS = 86_400_000
_FOR_EVER = "-1"
_SAFE_COPIES = 3  # from here on a confirmed record is on two brokers, and one may be down


class Wanted(NamedTuple):
    """A topic as it should be. ``name`` is full; ``configs`` are Kafka's names and values."""

    name: str
    partitions: int
    configs: Mapping[str, str]


class Existing(NamedTuple):
    """A topic as it is. ``configs`` hold for it now; ``own`` are those of them that were set on the topic itself."""

    partitions: int
    replication: int
    configs: Mapping[str, str]
    own: Mapping[str, str]


class Change(NamedTuple):
    """One config that differs."""

    config: str
    now: str
    wanted: str

    @property
    def shrinks(self) -> bool:
        """Whether it takes records away, or refuses records that are accepted today."""
        if self.config == "retention.ms":
            return self.wanted != _FOR_EVER and (self.now == _FOR_EVER or int(self.wanted) < int(self.now))
        if self.config == "max.message.bytes":
            return int(self.wanted) < int(self.now)
        return self.config == "cleanup.policy"

    def __str__(self) -> str:
        return f"{self.config} {self.now} -> {self.wanted}"


class Create(NamedTuple):
    """The topic is missing."""

    topic: str
    partitions: int
    replication: int
    configs: Mapping[str, str]

    def __str__(self) -> str:
        configs = ", ".join(f"{name}={value}" for name, value in self.configs.items())
        return f"create {self.topic}: {self.partitions} partitions x {self.replication} copies, {configs}"


class Alter(NamedTuple):
    """Configs differ. ``configs`` is all that the topic has set on itself afterwards: Kafka forgets the rest."""

    topic: str
    changes: tuple[Change, ...]
    configs: Mapping[str, str]

    def __str__(self) -> str:
        return f"alter {self.topic}: {', '.join(map(str, self.changes))}"


class Refuse(NamedTuple):
    """A difference that is not made to go away, and why."""

    topic: str
    why: str

    def __str__(self) -> str:
        return f"refuse {self.topic}: {self.why}"


Action = Create | Alter | Refuse


def wanted(
    row: Topic, prefix: str, *, partitions: int | None = None, max_message_bytes: int = MAX_MESSAGE_BYTES
) -> Wanted:
    """The row under a prefix. ``partitions`` replaces the table's number, except where the table wants exactly one.

    ``max_message_bytes`` is what workers may write; a topic is never made smaller than the table says.
    """
    count = row.partitions if partitions is None or row.partitions == 1 else partitions
    configs = {"cleanup.policy": "compact" if row.compacted else "delete"}
    if not row.compacted:
        configs["retention.ms"] = _FOR_EVER if row.retention_days is None else str(row.retention_days * _DAY_MS)
    largest = row.max_message_bytes + max(0, max_message_bytes - MAX_MESSAGE_BYTES)
    return Wanted(prefix + row.name, count, {**configs, "max.message.bytes": str(largest)})


def plan(
    topics: Iterable[Wanted], existing: Mapping[str, Existing], *, replication: int, shrink: bool = False
) -> list[Action]:
    """What to do, in the order of ``topics``; nothing where everything is as wanted.

    ``replication`` is for new topics. Without ``shrink`` a change that takes records away is refused.
    """
    actions: list[Action] = []
    for topic in topics:
        found = existing.get(topic.name)
        if found is None:
            configs = {**topic.configs, **_durable(replication)}
            actions.append(Create(topic.name, topic.partitions, replication, configs))
        else:
            actions += _mend(topic, found, shrink=shrink)
    return actions


def _mend(topic: Wanted, found: Existing, *, shrink: bool) -> Iterable[Action]:
    if topic.partitions != found.partitions:
        yield Refuse(
            topic.name,
            f"it has {found.partitions} partitions, {topic.partitions} are wanted: another number sends keys to other "
            "partitions, and the records of an item would overtake each other; make a new topic, or pass --partitions",
        )
    goal = {**topic.configs, **_durable(found.replication)}
    changes = [
        Change(name, found.configs.get(name, ""), value)
        for name, value in goal.items()
        if not _same(name, found.configs.get(name, ""), value)
    ]
    refused = [change for change in changes if change.shrinks and not shrink]
    for change in refused:
        yield Refuse(topic.name, f"{change} takes records away, or refuses what fits today; --shrink does it")
    made = tuple(change for change in changes if change not in refused)
    if made:
        yield Alter(topic.name, made, {**found.own, **{change.config: change.wanted for change in made}})


def _durable(replication: int) -> Mapping[str, str]:
    """A record that Kafka confirmed stands on two brokers, where there are three copies or more."""
    return {"min.insync.replicas": "2"} if replication >= _SAFE_COPIES else {}


def _same(config: str, now: str, value: str) -> bool:
    if config == "min.insync.replicas":  # stricter than wanted is the operator's choice
        return now.isdigit() and int(now) >= int(value)
    return now == value
