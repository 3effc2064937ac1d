"""What a judge's reply must look like, as JSON Schema: the plain form, and the one that strict structured output takes.

Source: S2 8.1, with the non-decisions of S1's menu that a judge can truthfully say. ``not_implemented`` is not among
them: that a criterion has no scorer is ours to know.
"""

from __future__ import annotations

from typing import Any, Final

from schemas.rating import Scale
from schemas.verdict_space import Choice, Label
from schemas.verdicts import MAX_REASON_CHARS, MAX_SPANS

NOTHING_DECIDED: Final = (Label.ABSTAIN, Label.NOT_APPLICABLE, Label.MISSING_EVIDENCE)
"""What a judge of any form may say instead of deciding."""

REPLY_LABELS: Final = (Label.PASS, Label.FAIL, *NOTHING_DECIDED)

_LABEL = {"type": "string", "enum": [str(label) for label in REPLY_LABELS]}

PLAIN_SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "JudgeReply",
    "type": "object",
    "properties": {
        "label": _LABEL,
        "reason": {"type": "string", "maxLength": MAX_REASON_CHARS},
        "evidence_spans": {"type": ["array", "null"], "items": {"type": "string"}, "maxItems": MAX_SPANS},
        "guideline_clause": {"type": ["string", "null"]},
    },
    "required": ["label", "reason"],
    "additionalProperties": False,
    "if": {"properties": {"label": {"const": "fail"}}, "required": ["label"]},
    "then": {
        "properties": {
            "reason": {"minLength": 1},
            "evidence_spans": {"type": "array", "minItems": 1},
            "guideline_clause": {"type": "string", "minLength": 1},
        },
        "required": ["evidence_spans", "guideline_clause"],
    },
}
"""The contract whole: a fail needs spans and a clause. The parser checks the same in code."""


def ordinal_schema(scale: Scale) -> dict[str, Any]:
    """The strict form with a score in the label's place. Its values are listed: strict modes take no bounds."""
    steps = {"type": "integer", "enum": list(range(scale.min, scale.max + 1))}
    return _strict("score", {"anyOf": [steps, _NOTHING_DECIDED]})


def _strict(name: str, menu: Any) -> dict[str, Any]:
    """For vendors' strict modes: every property required, optional ones a union with null, no conditions, no bounds."""
    return {
        "title": "JudgeReply",
        "type": "object",
        "properties": {
            name: menu,
            "reason": {"type": "string"},
            "evidence_spans": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
            "guideline_clause": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": [name, "reason", "evidence_spans", "guideline_clause"],
        "additionalProperties": False,
    }


_NOTHING_DECIDED = {"type": "string", "enum": [str(label) for label in NOTHING_DECIDED]}

STRICT_SCHEMA: Final = _strict("label", _LABEL)

PAIRWISE_SCHEMA: Final = _strict(
    "preference", {"type": "string", "enum": [str(said) for said in (*Choice, *NOTHING_DECIDED)]}
)
