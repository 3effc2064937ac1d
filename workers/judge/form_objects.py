"""The contracts of the other forms: a score of a declared scale, or a preference between two texts.

As strict as the default contract and read by the same parser. Whoever finds fault says where: a score below the best
and a preference carry reason, spans and clause, so that any threshold, now or later, makes complete fails of them.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from schemas.rating import Scale
from schemas.verdict_space import Choice, Label
from schemas.verdicts import MAX_REASON_CHARS, MAX_SPANS
from workers.judge.reading import Contract, ParsedReply, unparseable
from workers.judge.verdict_object import CAUSES, MAX_CLAUSE_CHARS, defect, missing_grounds

_Undecided = Literal["abstain", "not_applicable", "missing_evidence"]
_GROUNDS = '"reason": str, "evidence_spans": [str]|null, "guideline_clause": str|null'


class _OrdinalReply(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    score: int | _Undecided
    reason: Annotated[str, Field(max_length=MAX_REASON_CHARS)]
    evidence_spans: Annotated[list[str], Field(max_length=MAX_SPANS)] | None = None
    guideline_clause: Annotated[str, Field(max_length=MAX_CLAUSE_CHARS)] | None = None


class _PairwiseReply(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    preference: Literal["A", "B", "TIE"] | _Undecided
    reason: Annotated[str, Field(max_length=MAX_REASON_CHARS)]
    evidence_spans: Annotated[list[str], Field(max_length=MAX_SPANS)] | None = None
    guideline_clause: Annotated[str, Field(max_length=MAX_CLAUSE_CHARS)] | None = None


def ordinal_contract(scale: Scale) -> Contract[int]:
    """Scores inside the scale and nothing else: one outside it is no verdict, and never moved to the nearest end."""

    def read(found: dict[str, Any]) -> ParsedReply[int | Label]:
        try:
            reply = _OrdinalReply.model_validate(found)
        except ValidationError as error:
            return unparseable(defect(error))
        if isinstance(reply.score, str):
            return _read(Label(reply.score), reply)
        if not scale.min <= reply.score <= scale.max:
            return unparseable(f"score is outside {scale.min} to {scale.max}")
        missing = missing_grounds(reply, of="a score below the best") if reply.score < scale.max else None
        return unparseable(missing) if missing else _read(reply.score, reply)

    return Contract("ordinal", f'JSON {{"score": {scale.min}-{scale.max}|..., {_GROUNDS}}}', from_object=read)


def _read_pairwise(found: dict[str, Any]) -> ParsedReply[Choice | Label]:
    try:
        reply = _PairwiseReply.model_validate(found)
    except ValidationError as error:
        return unparseable(defect(error))
    if reply.preference not in set(Choice):
        return _read(Label(reply.preference), reply)
    choice = Choice(reply.preference)
    missing = missing_grounds(reply, of="a preference") if choice is not Choice.TIE else None
    return unparseable(missing) if missing else _read(choice, reply)


def _read(said: Any, reply: _OrdinalReply | _PairwiseReply) -> ParsedReply[Any]:
    return ParsedReply(
        said,
        CAUSES.get(said),
        "the judge said so" if said in CAUSES else None,
        reply.reason,
        tuple(reply.evidence_spans or ()),
        reply.guideline_clause.strip() if reply.guideline_clause else None,
    )


PAIRWISE: Final[Contract[Choice]] = Contract(
    "pairwise", f'JSON {{"preference": "A"|"B"|"TIE"|..., {_GROUNDS}}}', from_object=_read_pairwise
)
