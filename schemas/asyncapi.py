"""The public interface as documents: one JSON Schema a message, and the topics as an AsyncAPI 3 document.

Both are made from the topics table and the message classes, so that they cannot say anything else than the code does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemas.dead_letter import PREFIX as DEAD_LETTER_PREFIX
from schemas.dead_letter import DeadLetter
from schemas.message import Message
from schemas.topics import TOPICS, Topic

ASYNCAPI = "3.0.0"
INTERFACE = "1.0.0"
"""Version of the interface, not of the package: the 1 is the one at the end of every ``ce_type``."""

_BINDING = "0.5.0"  # of AsyncAPI's Kafka bindings
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_DAY_MS = 86_400_000
_OUTSIDE = ("producers", "operator", "raters")
"""Who writes topics without being a worker of ours."""

_CLOUD_EVENT = {
    "ce_specversion": "always 1.0",
    "ce_id": "the event id: derived from its cause, so that a repetition has the same",
    "ce_type": "the kind of message",
    "ce_source": "who wrote it",
    "ce_time": "when, ISO 8601",
    "ce_subject": "the record's key",
    "content-type": "always application/json",
    "traceparent": "W3C trace context, passed on from the draft",
    "tracestate": "W3C trace context, passed on from the draft",
}


def json_schemas() -> Mapping[str, Mapping[str, Any]]:
    """By ``ce_type``: the JSON Schema (2020-12) of each message's value."""
    return {
        message.ce_type: {"$schema": _DIALECT, **_schema(message, topic)}
        for topic in TOPICS
        for message in topic.messages
    }


def asyncapi(*, prefix: str) -> dict[str, Any]:
    """The AsyncAPI document of all topics under a prefix, as Assay's workers see them."""
    return {
        "asyncapi": ASYNCAPI,
        "info": {
            "title": "Assay",
            "version": INTERFACE,
            "description": "Topics of the judge. Records are JSON in UTF-8 with CloudEvents headers (binary mode).",
            "license": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
        },
        "defaultContentType": "application/json",
        "channels": {topic.name: _channel(topic, prefix) for topic in TOPICS},
        "operations": {f"{_action(topic)}-{topic.name}": _operation(topic) for topic in TOPICS},
        "components": {
            "messages": {name: row for topic in TOPICS for name, row in _messages(topic).items()},
            "messageTraits": {"CloudEvent": {"headers": _headers(_CLOUD_EVENT)}},
        },
    }


def _schema(message: type[Message], topic: Topic) -> dict[str, Any]:
    """As a writer outside may write it (defaults may be left out), or as a worker of ours does."""
    return message.model_json_schema(mode="validation" if topic.written_by in _OUTSIDE else "serialization")


def _channel(topic: Topic, prefix: str) -> dict[str, Any]:
    configuration: dict[str, Any] = {"cleanup.policy": ["compact" if topic.compacted else "delete"]}
    if not topic.compacted:
        configuration["retention.ms"] = -1 if topic.retention_days is None else topic.retention_days * _DAY_MS
    return {
        "address": prefix + topic.name,
        "summary": topic.meaning,
        "description": f"Written by: {topic.written_by}. Read by: {topic.read_by}.",
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in _messages(topic)},
        "bindings": {
            "kafka": {
                "topic": prefix + topic.name,
                "partitions": topic.partitions,
                "topicConfiguration": {**configuration, "max.message.bytes": topic.max_message_bytes},
                "bindingVersion": _BINDING,
            }
        },
    }


def _operation(topic: Topic) -> dict[str, Any]:
    return {
        "action": _action(topic),
        "channel": {"$ref": f"#/channels/{topic.name}"},
        "summary": topic.meaning,
        "messages": [{"$ref": f"#/channels/{topic.name}/messages/{name}"} for name in _messages(topic)],
    }


def _action(topic: Topic) -> str:
    return "receive" if topic.written_by in _OUTSIDE else "send"


def _messages(topic: Topic) -> dict[str, dict[str, Any]]:
    if not topic.messages:
        return {"DeadLetter": _dead_letter()}
    return {message.__name__: _message(message, topic) for message in topic.messages}


def _message(message: type[Message], topic: Topic) -> dict[str, Any]:
    # References inside a schema are to its own $defs; they stay valid only where the schema has an $id of its own.
    schema = {"$id": f"{message.ce_type}.json", **_schema(message, topic)}
    return {
        "name": message.ce_type,
        "title": message.__name__,
        "summary": _first_line(message),
        "traits": [{"$ref": "#/components/messageTraits/CloudEvent"}],
        "payload": {"schemaFormat": "application/schema+json;version=draft-2020-12", "schema": schema},
        "bindings": {"kafka": {"key": {"type": "string"}, "bindingVersion": _BINDING}},
    }


def _dead_letter() -> dict[str, Any]:
    meanings = {f"{DEAD_LETTER_PREFIX}{name}": "" for name in DeadLetter._fields}
    return {
        "name": "DeadLetter",
        "title": "DeadLetter",
        "summary": "The record as it came: key, value and headers untouched, and why it was set aside in headers.",
        "contentType": "application/octet-stream",
        "headers": _headers(meanings),
        "bindings": {"kafka": {"bindingVersion": _BINDING}},
    }


def _headers(meanings: Mapping[str, str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            name: {"type": "string", "description": meaning} if meaning else {"type": "string"}
            for name, meaning in meanings.items()
        },
    }


def _first_line(message: type[Message]) -> str:
    return (message.__doc__ or "").strip().partition("\n")[0]
