"""A JSON Schema as vendors' strict structured output takes it: the same shape, without what they refuse.

Source: OpenAI, "Structured model outputs", supported schemas: every property required, ``additionalProperties`` false,
unions by ``anyOf``, no conditions. What is left out (conditions, bounds) is checked by the parser in any case.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_KEPT: Final = ("title", "description", "type", "enum", "const", "items", "properties", "anyOf", "required")
_NULL: Final[dict[str, Any]] = {"type": "null"}


def strict_form(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The strict form of a schema; of a strict schema, that schema."""
    types = schema.get("type")
    if isinstance(types, list):
        return {"anyOf": [strict_form({**schema, "type": one}) if one != "null" else _NULL for one in types]}
    form = {name: schema[name] for name in _KEPT if name in schema}
    if "anyOf" in form:
        form["anyOf"] = [strict_form(one) for one in form["anyOf"]]
    if "items" in form:
        form["items"] = strict_form(form["items"])
    if "properties" in form:
        needed = set(schema.get("required", ()))
        form["properties"] = {
            name: strict_form(one) if name in needed else _or_null(strict_form(one))
            for name, one in form["properties"].items()
        }
        form["required"] = list(form["properties"])
        form["additionalProperties"] = False
    return form


def _or_null(form: dict[str, Any]) -> dict[str, Any]:
    """An optional property must be there, and may be null."""
    if _NULL in form.get("anyOf", ()):
        return form
    return {"anyOf": [form, _NULL]}
