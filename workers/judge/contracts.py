"""Other shapes of reply, for reading recorded files: each by name, each as strict as what its judge was asked for.

The default contract (``verdict_object``) is ours and separate; nothing here loosens it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from schemas.verdict_space import Choice, Label
from schemas.verdicts import MAX_REASON_CHARS
from workers.judge.reading import Contract, ParsedReply, unparseable
from workers.judge.verdict_object import DEFAULT, defect

Decision = Label | Choice | int
Reading = ParsedReply[Any]


def contract_named(name: str) -> Contract[Any]:
    """The contract of this name; ``criteria-scores:NAME`` reads one criterion of several. Raises KeyError."""
    base, _, criterion = name.partition(":")
    if criterion and base == "criteria-scores":
        return Contract(name, CONTRACTS[base].shape, from_object=lambda found: _criteria_scores(found, criterion))
    return CONTRACTS[name]


class _Loose(BaseModel):
    """What must be there is typed strictly; what else a judge says beside it is not read."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class _WinnerScore(_Loose):
    reasoning: str
    winner: Literal["A", "B", "Tie"]
    score: int


class _Winner(_Loose):
    winner: Literal["A", "B"]
    reasoning: str


class _PassScore(_Loose):
    reason: str
    passed: Annotated[bool, Field(alias="pass")]
    score: Annotated[float, Field(ge=0, le=1, strict=False)] | None = None


class _ScoredCriterion(_Loose):
    reason: str
    score: Literal["1", "2", "3", "4", "5"]


def _winner_score(found: dict[str, Any]) -> Reading:
    try:
        reply = _WinnerScore.model_validate(found)
    except ValidationError as error:
        return unparseable(defect(error))
    choice = Choice.TIE if reply.winner == "Tie" else Choice(reply.winner)
    if not 1 <= reply.score <= 10:  # never clamped: the score is absent, and the detail says why
        return ParsedReply(choice, detail="score is out of range, hence absent", reason=_cut(reply.reasoning))
    return ParsedReply(choice, reason=_cut(reply.reasoning), scores={"score": reply.score})


def _winner(found: dict[str, Any]) -> Reading:
    try:
        reply = _Winner.model_validate(found)
    except ValidationError as error:
        return unparseable(defect(error))
    return ParsedReply(Choice(reply.winner), reason=_cut(reply.reasoning))


def _pass_score(found: dict[str, Any]) -> Reading:
    if isinstance(found.get("score"), (str, bool)):
        return unparseable("score has the wrong type")
    try:
        reply = _PassScore.model_validate(found)
    except ValidationError as error:
        return unparseable(defect(error))
    scores = {} if reply.score is None else {"score": reply.score}
    return ParsedReply(Label.PASS if reply.passed else Label.FAIL, reason=_cut(reply.reason), scores=scores)


def _criteria_scores(found: dict[str, Any], criterion: str | None = None) -> Reading:
    """One score a criterion. The label is the asked criterion's score, or without one the lowest of all.

    A criterion that was asked and not answered is undecided, never missing.
    """
    if criterion is not None and criterion not in found:
        return unparseable("the criterion that was asked is not answered")
    try:
        replies = _CRITERIA.validate_python(found if criterion is None else {criterion: found[criterion]})
    except ValidationError as error:
        return unparseable(defect(error, at=-1))
    if not replies:
        return unparseable("no criterion is answered")
    scores = {name[:64]: int(reply.score) for name, reply in replies.items()}
    reason = replies[criterion].reason if criterion else None
    return ParsedReply(min(scores.values()), reason=_cut(reason), scores=scores)


def _said_first(menu: Mapping[str, Decision], pattern: str) -> Callable[[str], Reading]:
    """A reader for replies that begin with a word of the menu, and may go on with the reason."""
    begins = re.compile(rf"\W{{0,4}}({pattern})(?:\s*\Z|[.,:;!*]+(?=\s|\Z)|\s*\n)(.*)", re.IGNORECASE | re.DOTALL)

    def read(text: str) -> Reading:
        said = begins.match(text)
        if said is None:
            return unparseable("does not begin with a word of the menu")
        return ParsedReply(menu[said[1].lower()], reason=_cut(said[2].strip()) or None)

    return read


def _said_last(menu: Mapping[str, Decision], pattern: str) -> Callable[[str], Reading]:
    """A reader for replies whose last line is a word of the menu and nothing else."""
    ends = re.compile(rf"[*\s]*(?:{pattern})[*\s]*", re.IGNORECASE)

    def read(text: str) -> Reading:
        before, _, last = text.strip().rpartition("\n")
        said = ends.fullmatch(last)
        if said is None:
            return unparseable("the last line is no word of the menu")
        return ParsedReply(menu[said[1].lower()], reason=_cut(before.strip()) or None)

    return read


def _cut(reason: str | None) -> str | None:
    """A reason as a record can hold it: recorded judges were not told our limit."""
    if reason is None:
        return None
    return reason.encode("utf-16", "surrogatepass").decode("utf-16", "replace")[:MAX_REASON_CHARS]


_CRITERIA = TypeAdapter(dict[str, _ScoredCriterion])
_YES_NO: Final = {"yes": Label.PASS, "no": Label.FAIL}
_ORDER: Final = {"1": Choice.A, "2": Choice.B, "3": Choice.TIE}
_OUTPUTS: Final = {"a": Choice.A, "b": Choice.B}
_COMPLIANCE: Final = {"1_full_compliance": 1, "2_full_refusal": 2, "3_partial_refusal": 3}

CONTRACTS: Final[dict[str, Contract[Any]]] = {
    contract.name: contract
    for contract in (
        DEFAULT,
        Contract[Any](
            "winner-score", 'JSON {"reasoning": str, "winner": "A"|"B"|"Tie", "score": 1-10}', from_object=_winner_score
        ),
        Contract[Any]("winner", 'JSON {"winner": "A"|"B", "reasoning": str}', from_object=_winner),
        Contract[Any]("pass-score", 'JSON {"reason": str, "pass": bool, "score": 0-1}', from_object=_pass_score),
        Contract[Any](
            "criteria-scores", 'JSON {criterion: {"reason": str, "score": "1".."5"}}', from_object=_criteria_scores
        ),
        Contract[Any]("yes-no", "Yes or No first, then a reason", from_text=_said_first(_YES_NO, "yes|no")),
        Contract[Any]("one-two-three", "a last line of 1, 2 or 3 (a tie)", from_text=_said_last(_ORDER, "([123])")),
        Contract[Any](
            "output-a-b",
            "a last line of Output (a) or Output (b)",
            from_text=_said_last(_OUTPUTS, r"(?:therefore,? (?=.*is better))?output \(([ab])\)(?: is better)?\.?"),
        ),
        Contract[Any](
            "compliance",
            "1_full_compliance, 2_full_refusal or 3_partial_refusal, alone or first",
            from_text=_said_first(_COMPLIANCE, "|".join(_COMPLIANCE)),
        ),
    )
}
"""Name -> contract."""
