"""The documents of the public interface: valid, complete, and the same as those in docs/."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from schemas.asyncapi import asyncapi, json_schemas
from schemas.topics import TOPICS, topic_named

ROOT = Path(__file__).parents[2]
DOCUMENT = asyncapi(prefix="assay.")

# Published by the AsyncAPI Initiative as @asyncapi/specs 6.11.1, schemas/3.0.0-without-$id.json (Apache-2.0).
RULES = json.loads(gzip.decompress((ROOT / "tests" / "data" / "asyncapi-3.0.0.json.gz").read_bytes()))
EXAMPLES = sorted((ROOT / "schemas" / "examples").rglob("*.json"))


def problems(document: dict[str, Any]) -> list[str]:
    return [error.message for error in jsonschema.Draft7Validator(RULES).iter_errors(document)]


def test_the_document_is_valid_asyncapi_3() -> None:
    assert problems(DOCUMENT) == []


@pytest.mark.parametrize(
    "broken",
    [
        {"asyncapi": "2.6.0"},
        {"channels": {"drafts": {"adress": "x"}}},
        {"operations": {"send-drafts": {"action": "write", "channel": {"$ref": "#/channels/drafts"}}}},
    ],
)
def test_the_rules_catch_a_broken_document(broken: dict[str, Any]) -> None:
    assert problems({**DOCUMENT, **broken})


def test_every_topic_is_a_channel_and_every_reference_leads_somewhere() -> None:
    assert {row["address"] for row in DOCUMENT["channels"].values()} == {f"assay.{topic.name}" for topic in TOPICS}
    for reference in references({key: value for key, value in DOCUMENT.items() if key != "components"}):
        found: Any = DOCUMENT
        for step in reference.removeprefix("#/").split("/"):
            found = found[step]


def references(node: Any) -> list[str]:
    if isinstance(node, dict):
        here = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
        return here + [found for value in node.values() for found in references(value)]
    return [found for value in node for found in references(value)] if isinstance(node, list) else []


def test_workers_receive_what_others_write_and_send_the_rest() -> None:
    actions = {name: row["action"] for name, row in DOCUMENT["operations"].items()}
    assert actions["receive-drafts"] == actions["receive-control"] == "receive"
    assert actions["send-verdicts"] == actions["send-dead-letters"] == "send"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_an_example_satisfies_the_json_schema_of_its_message(path: Path) -> None:
    topic = topic_named(path.parent.name)
    assert topic is not None
    value = json.loads(path.read_bytes())
    kinds = {message.model_fields["type"].default: message for message in topic.messages}
    message = kinds[value.get("type", "draft")]
    jsonschema.Draft202012Validator(json_schemas()[message.ce_type]).validate(value)


def test_a_schema_refuses_what_lacks_a_required_field() -> None:
    draft = json_schemas()["assay.draft.v1"]
    assert not jsonschema.Draft202012Validator(draft).is_valid({"text": "t"})


def test_the_documents_in_docs_are_the_ones_the_code_makes() -> None:
    """Made anew by ``assay topics schema docs``."""
    written = yaml.safe_load((ROOT / "docs" / "asyncapi.yaml").read_text(encoding="utf-8"))
    assert written == DOCUMENT
    files = {path.stem: json.loads(path.read_bytes()) for path in (ROOT / "docs" / "schemas").glob("*.json")}
    assert files == json_schemas()
