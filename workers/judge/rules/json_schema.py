"""Rule ``json_schema``: the text is JSON, strictly, and valid for a schema of the charter."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Self

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, best_match
from pydantic import Field, JsonValue, PrivateAttr, model_validator
from referencing import Registry

from schemas.drafts import Draft
from schemas.verdict_space import Label
from schemas.verdicts import MAX_REASON_CHARS
from workers.judge.rules.finding import PASSED, Params, RuleFinding
from workers.judge.rules.metadata import leaves
from workers.judge.strict_json import NotStrictJson, decode

_BACKTRACKING = ("pattern", "patternProperties")


class JsonSchema(Params):
    """``schema`` is JSON Schema 2020-12 with references inside itself alone."""

    schema_: dict[str, JsonValue] = Field(alias="schema")
    _validator: Any = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _prepared(self) -> Self:
        try:
            Draft202012Validator.check_schema(self.schema_)
        except SchemaError as error:
            raise ValueError(f"no valid JSON Schema: {error.message[:200]}") from error
        for leaf in leaves(self.schema_):
            if "$ref" in leaf.keys[-1:] and not str(leaf.value).startswith("#"):
                raise ValueError(f"$ref {leaf.value!r} points outside the schema; put what it means inside")
            if any(key in _BACKTRACKING and before != "properties" for before, key in pairwise(("", *leaf.keys))):
                # Drafts are hostile: a backtracking expression over them could hang a worker.
                raise ValueError("pattern and patternProperties are not taken; use enum, or the rule banned_phrases")
        self._validator = Draft202012Validator(self.schema_, registry=Registry())
        return self

    def violation(self, value: Any) -> str | None:
        """Where in the schema the value fails, or None. A place in the schema is ours; one in the value is not."""
        error = best_match(self._validator.iter_errors(value))
        return None if error is None else "/".join(str(part) for part in error.absolute_schema_path)


def check_json_schema(draft: Draft, params: JsonSchema) -> RuleFinding:
    """A fail says what is not valid by its place in the schema; the text as a whole is at fault, so no span."""
    try:
        value = decode(draft.text)
    except NotStrictJson as defect:
        return RuleFinding(Label.FAIL, f"The text is not the JSON that is asked for: {defect}.", detail=str(defect))
    place = params.violation(value)
    if place is None:
        return PASSED
    reason = f"The text is JSON but breaks the schema at {place}."
    return RuleFinding(Label.FAIL, reason[:MAX_REASON_CHARS], detail=f"schema: {place}"[:MAX_REASON_CHARS])
