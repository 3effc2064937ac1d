"""Every topic's example messages: documentation for producers that a test decodes and encodes again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schemas.codec import decode, encode
from schemas.topics import TOPICS, topic_named

EXAMPLES = Path(__file__).parents[1] / "schemas" / "examples"
FILES = sorted(EXAMPLES.rglob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_an_example_survives_the_round_trip(path: Path) -> None:
    topic = topic_named(path.parent.name)
    assert topic is not None, f"{path.parent.name} is no topic"
    message = decode(topic, path.read_bytes()).message
    again = decode(topic, encode(message), ce_type=message.ce_type).message
    assert again == message
    given, written = json.loads(path.read_bytes()), json.loads(encode(message))
    assert given.items() <= {**written, **{k: given[k] for k in given if isinstance(given[k], dict)}}.items()


def test_every_message_class_has_an_example() -> None:
    shown = {json.loads(path.read_bytes()).get("type", "draft") for path in FILES}
    needed = {m.model_fields["type"].default for topic in TOPICS for m in topic.messages}
    assert shown == needed
