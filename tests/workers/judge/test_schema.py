from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from schemas.verdict_space import Cause
from workers.judge.parsing import parse_reply
from workers.judge.schema import PLAIN_SCHEMA, STRICT_SCHEMA

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


def test_the_strict_schema_keeps_to_what_vendors_strict_modes_take() -> None:
    # OpenAI, structured outputs: every property required, additionalProperties false, no if/then, no length bounds.
    Draft202012Validator.check_schema(STRICT_SCHEMA)
    assert set(STRICT_SCHEMA["required"]) == set(STRICT_SCHEMA["properties"])
    assert STRICT_SCHEMA["additionalProperties"] is False
    text = json.dumps(STRICT_SCHEMA)
    assert not any(f'"{word}"' in text for word in ("if", "then", "maxLength", "minItems", "maxItems", "$schema"))
    assert Draft202012Validator(STRICT_SCHEMA).is_valid(PASS)
    assert Draft202012Validator(STRICT_SCHEMA).is_valid(FAIL)
