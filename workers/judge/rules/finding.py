"""What a rule finds in a draft, and what every rule's parameters have in common."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from schemas.verdict_space import Cause, Label


class Params(BaseModel):
    """A rule's parameters, as the charter writes them. An unknown one is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class RuleFinding(NamedTuple):
    """``evidence_spans`` are exact slices of the draft; a fail for what is *not* there has none.

    ``reason`` and ``detail`` are in our words: parameters of the BOM and numbers we parsed, never text of the draft.
    """

    label: Label
    reason: str | None = None
    evidence_spans: tuple[str, ...] = ()
    detail: str | None = None
    cause: Cause | None = None


PASSED = RuleFinding(Label.PASS)


def missing_evidence(detail: str) -> RuleFinding:
    """What the text would be checked against cannot be read (S1: never silently scored)."""
    return RuleFinding(Label.MISSING_EVIDENCE, detail=detail, cause=Cause.UNREADABLE_CONTEXT)


def nothing_to_check(detail: str) -> RuleFinding:
    return RuleFinding(Label.NOT_APPLICABLE, detail=detail, cause=Cause.NOTHING_TO_CHECK)
