from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from schemas.rating import Scale
from schemas.verdict_space import Cause
from workers.judge.parsing import parse_reply
from workers.judge.schema import PAIRWISE_SCHEMA, PLAIN_SCHEMA, STRICT_SCHEMA, ordinal_schema

FAIL = {"label": "fail", "reason": "r", "evidence_spans": ["x"], "guideline_clause": "C1"}
PASS = {"label": "pass", "reason": "r", "evidence_spans": None, "guideline_clause": None}


@pytest.mark.parametrize(
    "reply",
    [
        FAIL,
        PASS,
        {"label": "pass", "reason": ""},
        {"label": "maybe", "reason": "r"},
        {"label": "fail", "reason": "r"},
        FAIL | {"evidence_spans": []},
        FAIL | {"guideline_clause": None},
        FAIL | {"reason": ""},
        FAIL | {"reason": "x" * 601},
        FAIL | {"evidence_spans": ["x"] * 33},
        FAIL | {"more": 1},
        {"reason": "r"},
        {},
    ],
)
def test_the_plain_schema_and_the_parser_agree(reply: dict[str, object]) -> None:
    valid = Draft202012Validator(PLAIN_SCHEMA).is_valid(reply)
    assert valid is (parse_reply(json.dumps(reply)).cause is not Cause.UNPARSEABLE)


@pytest.mark.parametrize("schema", [STRICT_SCHEMA, PAIRWISE_SCHEMA, ordinal_schema(Scale(min=1, max=5, pass_at=4))])
def test_what_is_asked_for_keeps_to_what_vendors_strict_modes_take(schema: dict[str, Any]) -> None:
    # OpenAI, structured outputs: every property required, additionalProperties false, no if/then, no length bounds.
    Draft202012Validator.check_schema(schema)
    (whole,) = _objects(schema)
    assert whole["required"] == list(whole["properties"])
    assert whole["additionalProperties"] is False
    assert not _REFUSED & {word for part in _parts(schema) for word in part}


def test_the_strict_schema_takes_what_the_contract_means() -> None:
    assert Draft202012Validator(STRICT_SCHEMA).is_valid(PASS)
    assert Draft202012Validator(STRICT_SCHEMA).is_valid(FAIL)


_REFUSED = {"if", "then", "else", "allOf", "not", "minItems", "maxItems", "minLength", "maxLength", "$schema"}
"""What OpenAI's strict mode has refused at one time or another."""


def _parts(schema: Any) -> list[dict[str, Any]]:
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    return [schema] * isinstance(schema, dict) + [found for one in inner for found in _parts(one)]


def _objects(schema: Any) -> list[dict[str, Any]]:
    return [part for part in _parts(schema) if part.get("type") == "object"]
