from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

from workers.judge.schema import PLAIN_SCHEMA, STRICT_SCHEMA
from workers.judge.strict_form import strict_form

REFUSED = {"if", "then", "else", "allOf", "not", "minItems", "maxItems", "minLength", "maxLength", "$schema"}
"""What OpenAI's strict mode has refused at one time or another."""


def objects(schema: Any) -> list[dict[str, Any]]:
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    own = [schema] if isinstance(schema, dict) and schema.get("type") == "object" else []
    return own + [found for one in inner for found in objects(one)]


def test_the_strict_form_of_the_contract_is_the_strict_contract() -> None:
    assert strict_form(PLAIN_SCHEMA) == STRICT_SCHEMA


def test_a_strict_schema_stays_as_it_is() -> None:
    assert strict_form(STRICT_SCHEMA) == STRICT_SCHEMA


def test_every_property_is_required_and_nothing_refused_is_left_at_any_depth() -> None:
    inner = {"type": "object", "properties": {"b": {"type": "integer", "minimum": 1}}}
    listed = {"type": "array", "minItems": 1, "items": inner}
    nested = {"type": "object", "properties": {"a": listed}, "if": {}, "then": {}}
    form = strict_form(nested)
    assert len(objects(form)) == 2
    for one in objects(form):
        assert (one["required"], one["additionalProperties"]) == (list(one["properties"]), False)
    assert not REFUSED & {key for one in objects(form) for key in one}
    Draft202012Validator.check_schema(form)
    assert Draft202012Validator(form).is_valid({"a": None})
