"""What is built without validation is what validation would have built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic_core import PydanticSerializationError

from schemas.codec import decode, encode
from schemas.drafts import Revises
from schemas.message import Message
from schemas.ours import unchecked
from schemas.topics import HUMAN_QUEUE, SERVED, TELEMETRY, VERDICTS, topic_named, topic_of

EXAMPLES = sorted((Path(__file__).parents[2] / "schemas" / "examples").rglob("*.json"))
JUDGES = (VERDICTS, TELEMETRY, SERVED, HUMAN_QUEUE)
REVISES: dict[str, Any] = {"revision_id": "r-1", "round_id": "o-1", "judged_sha256": "a" * 64}


def message_of(path: Path) -> Message:
    topic = topic_named(path.parent.name)
    assert topic is not None
    return decode(topic, path.read_bytes()).message


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_same_values_give_the_same_message_and_the_same_bytes(path: Path) -> None:
    message = message_of(path)
    build: Any = unchecked(type(message))
    built = build(**dict(reversed(message.__dict__.items())))
    assert built == message
    assert encode(built) == encode(message)
    assert decode(topic_of(built), encode(built)).message == message
    assert built.model_copy(update={}) == message


@pytest.mark.parametrize("model", [model for topic in JUDGES for model in topic.messages], ids=lambda m: m.__name__)
def test_what_is_left_out_is_the_models_default(model: type[Message]) -> None:
    message = next(made for made in map(message_of, EXAMPLES) if type(made) is model)
    needed = {name: getattr(message, name) for name, field in model.model_fields.items() if _is_needed(field)}
    build: Any = unchecked(model)
    assert build(**needed) == model.model_validate(needed)


def _is_needed(field: Any) -> bool:
    return field.is_required() or field.default_factory is not None


def test_a_built_message_is_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        unchecked(Revises)(**REVISES).round_id = "o-2"


def test_a_field_that_does_not_exist_is_refused_and_one_that_is_missing_is_never_written() -> None:
    build: Any = unchecked(Revises)
    with pytest.raises(TypeError, match="colour"):
        build(**REVISES, colour="red")
    with pytest.raises(PydanticSerializationError):
        build(revision_id="r-1", round_id="o-1").model_dump_json()
