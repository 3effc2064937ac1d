"""What a judge's reply must look like, as JSON Schema: the plain form, and the one that strict structured output takes.

Source: S2 8.1, with the non-decisions of S1's menu that a judge can truthfully say. ``not_implemented`` is not among
them: that a criterion has no scorer is ours to know.
"""

from __future__ import annotations

from typing import Any, Final

from schemas.verdict_space import Label
from schemas.verdicts import MAX_REASON_CHARS, MAX_SPANS

REPLY_LABELS: Final = (Label.PASS, Label.FAIL, Label.ABSTAIN, Label.NOT_APPLICABLE, Label.MISSING_EVIDENCE)

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

STRICT_SCHEMA: Final[dict[str, Any]] = {
    "title": "JudgeReply",
    "type": "object",
    "properties": {
        "label": _LABEL,
        "reason": {"type": "string"},
        "evidence_spans": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
        "guideline_clause": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["label", "reason", "evidence_spans", "guideline_clause"],
    "additionalProperties": False,
}
"""For vendors' strict modes: every property required, optional ones a union with null, no conditions, no bounds."""
