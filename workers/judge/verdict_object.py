"""The default contract: one verdict object, typed strictly, with what a fail must carry (S2 8.1)."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from schemas.verdict_space import Cause, Flag, Label
from schemas.verdicts import MAX_REASON_CHARS, MAX_SPANS
from workers.judge.reading import Contract, ParsedReply, safe_token, unparseable

MAX_CLAUSE_CHARS = 128


class JudgeReply(BaseModel):
    """A reply's object. Nothing is coerced and nothing unknown is let through."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    label: Literal["pass", "fail", "abstain", "not_applicable", "missing_evidence"]
    reason: Annotated[str, Field(max_length=MAX_REASON_CHARS)]
    evidence_spans: Annotated[list[str], Field(max_length=MAX_SPANS)] | None = None
    guideline_clause: Annotated[str, Field(max_length=MAX_CLAUSE_CHARS)] | None = None


def read_verdict(found: dict[str, Any]) -> ParsedReply[Label]:
    """A verdict object as a reading. A fail without reason, spans or clause is no verdict, and the defect is named."""
    try:
        reply = JudgeReply.model_validate(found)
    except ValidationError as error:
        return unparseable(defect(error))
    label = Label(reply.label)
    if label is Label.FAIL and (missing := missing_grounds(reply, of="a fail")):
        return unparseable(missing)
    return ParsedReply(
        label,
        CAUSES.get(label),
        None if label.decided else "the judge said so",
        reply.reason,
        tuple(reply.evidence_spans or ()),
        reply.guideline_clause.strip() if reply.guideline_clause else None,
        (Flag.LABEL_REASON_CONFLICT,) if contradicts(label, reply.reason) else (),
    )


CAUSES: Final = {
    Label.ABSTAIN: Cause.REFUSED,
    Label.NOT_APPLICABLE: Cause.NOTHING_TO_CHECK,
    Label.MISSING_EVIDENCE: Cause.UNREADABLE_CONTEXT,
}
"""Why a judge that answered decided nothing."""


def contradicts(label: Label, reason: str) -> bool:
    """True when the reason says the other label in plain words. A sign for people; the label stands."""
    if not label.decided:
        return False
    lowered = reason.lower()
    if not any(hint in lowered for hint in _HINTS):  # ten times faster than either pattern, and usually the end
        return False
    passes, fails = _SAYS_PASS.search(lowered) is not None, _SAYS_FAIL.search(lowered) is not None
    return (passes and not fails) if label is Label.FAIL else (fails and not passes)


class Grounds(Protocol):
    """What a reply gives for its word."""

    @property
    def reason(self) -> str: ...
    @property
    def evidence_spans(self) -> list[str] | None: ...
    @property
    def guideline_clause(self) -> str | None: ...


def missing_grounds(reply: Grounds, *, of: str) -> str | None:
    """What a reply that finds fault must carry and does not, or None."""
    if not reply.reason.strip():
        return f"{of} without a reason"
    if not reply.evidence_spans:
        return f"{of} without evidence_spans"
    if not all(span.strip() for span in reply.evidence_spans):
        return f"{of} with a blank evidence span"
    if not (reply.guideline_clause or "").strip():
        return f"{of} without a guideline_clause"
    return None


def defect(error: ValidationError, *, at: int = 0) -> str:
    """What is wrong, as fields and faults, the first three; never a value. ``at`` picks the field out of a path."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(_fault(str(f["type"]), f["loc"], at) for f in faults[:3])


def _fault(kind: str, loc: tuple[int | str, ...], at: int) -> str:
    where = str(loc[at]) if loc else "the object"
    match kind:
        case "missing":
            return f"{where} is missing"
        case "extra_forbidden":
            return f"unknown key {safe_token(where)}"
        case "literal_error":
            return f"{where} is not on the menu"
        case "string_too_long" | "too_long":
            return f"{where} is too long"
        case "string_unicode":
            return f"{where} holds a lone surrogate"
        case _:
            return f"{where} has the wrong type"


_HINTS = ("meet", "satisf", "fulfil", "compl", "conform", "pass", "violat", "break", "fails", "contradiction", "defect")
_MENU = (
    r"(?:the|this|that|every|all|each|its)\b[\w ]{0,30}"
    r"\b(?:criteri(?:on|a)|requirements?|rubric|guidelines?|clauses?)\b"
)
_NOT = r"(?:does(?: not|n['’]t)|do(?: not|n['’]t)|did(?: not|n['’]t)|fails? to|cannot|never)"
_SAYS_PASS = re.compile(
    r"(?<!not )(?<!n't )(?<!to )(?<!never )"
    rf"\b(?:meets?|satisf(?:y|ies)|fulfil?ls?|complies with|conforms to|passes)\s+{_MENU}"
    r"|\bno (?:violations?|contradictions?|defects?)\b"
)
_SAYS_FAIL = re.compile(
    rf"\b{_NOT}\s+(?:\w+ ){{0,2}}(?:meet|satisfy|fulfil?l|comply with|conform to|pass)\b"
    rf"|(?<!nothing )\b(?:violates|breaks|fails)\s+{_MENU}"
)

DEFAULT: Final[Contract[Label]] = Contract(
    "verdict",
    'JSON {"label": "pass"|"fail"|..., "reason": str, "evidence_spans": [str]|null, "guideline_clause": str|null}',
    from_object=read_verdict,
)
