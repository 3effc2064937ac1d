"""Bytes to message and back: the only parser of records. Total: any bytes give a message or ``BadMessage``."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson
from pydantic import ValidationError

from schemas.errors import BadMessage, BadMessageKind
from schemas.message import Message
from schemas.topics import Topic
from schemas.verdict_space import Flag

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_SHOWN = 60


class Decoded(NamedTuple):
    """A message, and what had to be mended on the way in."""

    message: Message
    flags: tuple[Flag, ...] = ()


def encode(message: Message) -> bytes:
    """Exact JSON of a message: UTF-8, absent values as null, never NaN."""
    return type(message).__pydantic_serializer__.to_json(message)


def decode(topic: Topic, value: bytes | None, *, ce_type: str | None = None) -> Decoded:
    """Read one record of a topic.

    ``ce_type`` is the record's CloudEvents type where it has one: a record of another kind than the topic carries is
    refused (the loop guard: a verdict published to ``drafts`` must not be judged).

    Raises BadMessage, and nothing else, on: no bytes, too many bytes, bytes that are no JSON object, another kind of
    message, a field that does not fit.
    """
    if not value:
        raise BadMessage(BadMessageKind.EMPTY, "the record has no value")
    if len(value) > topic.max_message_bytes:
        raise BadMessage(BadMessageKind.TOO_LARGE, f"{len(value)} bytes; at most {topic.max_message_bytes}")
    return _validate(topic, _class_of(topic, value, ce_type), value)


def _class_of(topic: Topic, value: bytes, ce_type: str | None) -> type[Message]:
    for message in topic.messages:
        if message.ce_type == ce_type:
            return message
    if ce_type is not None and ce_type.startswith("assay."):
        raise BadMessage(BadMessageKind.WRONG_TYPE, f"{_shown(ce_type)} does not belong on {topic.name}")
    if len(topic.messages) == 1:
        return topic.messages[0]
    kind = _load(value).get("type")
    for message in topic.messages:
        if message.model_fields["type"].default == kind:
            return message
    raise BadMessage(BadMessageKind.WRONG_TYPE, f"type {_shown(kind)} does not belong on {topic.name}", field="type")


def _validate(topic: Topic, message: type[Message], value: bytes) -> Decoded:
    try:
        orjson.loads(value)  # pydantic's reader alone would take NaN, and what is too large, for numbers
    except orjson.JSONDecodeError:
        _load(value)  # says what is wrong, or that it is nothing: orjson refuses integers of 400 digits too
    try:
        return Decoded(message.__pydantic_validator__.validate_json(value))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        if first["type"] != "json_invalid":
            raise _bad_schema(topic, first) from None
    document = _load(value)  # says what is wrong with the JSON, or mends lone surrogates
    try:
        return Decoded(message.model_validate(_without_surrogates(document)), (Flag.SURROGATES_REPLACED,))
    except ValidationError as error:
        raise _bad_schema(topic, error.errors(include_url=False, include_context=False)[0]) from None


def _load(value: bytes) -> dict[str, Any]:
    """JSON of an object by the slow, exact reader. Used where the fast one refused or the class is unknown."""
    try:
        document = json.loads(value.decode("utf-8"), parse_constant=_refuse_constant, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise BadMessage(BadMessageKind.NOT_JSON, f"invalid UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise BadMessage(BadMessageKind.NOT_JSON, f"{error.msg} at character {error.pos}") from None
    except (RecursionError, ValueError) as error:
        detail = "nested too deeply" if isinstance(error, RecursionError) else str(error)[:_MAX_SHOWN]
        raise BadMessage(BadMessageKind.NOT_JSON, detail) from None
    if not isinstance(document, dict):
        raise BadMessage(BadMessageKind.NOT_JSON, f"a JSON object is needed, not {type(document).__name__}")
    return document


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits[:20]} is too large for a number")
    return number


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(v) for v in value]
    if isinstance(value, dict):
        return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
    return value


def _bad_schema(topic: Topic, error: Mapping[str, Any]) -> BadMessage:
    field = ".".join(str(part) for part in error["loc"]) or "record"
    given = error.get("input")
    kind = BadMessageKind.WRONG_TYPE if field == "type" else BadMessageKind.BAD_SCHEMA
    shown = "" if field == "text" or error["type"] == "missing" else f" (got {_shown(given)})"
    return BadMessage(kind, f"{error['msg'][:200]}{shown}", field=f"{topic.name}.{field}"[:200])


def _shown(value: Any) -> str:
    """A value in an error: its kind and its beginning when it is short and flat, its kind alone otherwise."""
    if value is None or isinstance(value, bool | int | float):
        return repr(value)[:_MAX_SHOWN]
    if isinstance(value, str) and len(value) <= _MAX_SHOWN and value.isprintable():
        return repr(value)
    return f"a {type(value).__name__}"
