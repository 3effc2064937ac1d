"""Topic names on a cluster: the prefix of the settings before the names of the one table."""

from __future__ import annotations

from typing import NamedTuple

from schemas.message import Message
from schemas.topics import Topic, topic_named, topic_of


class Names(NamedTuple):
    """Full names of topics under one prefix."""

    prefix: str

    def full(self, topic: Topic) -> str:
        return self.prefix + topic.name

    def of(self, message: Message | type[Message]) -> str:
        """Where a message goes: decided by its class alone."""
        return self.prefix + topic_of(message).name

    def topic(self, full: str) -> Topic | None:
        """The row for a full name; None for a topic that is not ours."""
        return topic_named(full.removeprefix(self.prefix)) if full.startswith(self.prefix) else None
