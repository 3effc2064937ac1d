"""Reads a judge's reply. Total: any text gives one verdict, or abstains with a cause and the exact defect.

Prose is never read as pass or fail. Exactly one verdict object in the whole reply is a verdict; two are none, for one
of them may be the draft's.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Final, overload

from schemas.verdict_space import Cause, Flag, Label
from workers.judge.only_object import only_object
from workers.judge.reading import Contract, L, ParsedReply, abstain, safe_token, unparseable
from workers.judge.strict_json import MAX_REPLY_CHARS, NotStrictJson
from workers.judge.verdict_object import DEFAULT

MAX_CHARS_WITH_REASONING: Final = 1024 * 1024


@overload
def parse_reply(
    text: str | None,
    *,
    finish_reason: str | None = None,
    refusal: bool = False,
    clauses: Collection[str] | None = None,
) -> ParsedReply[Label]: ...


@overload
def parse_reply(
    text: str | None,
    *,
    finish_reason: str | None = None,
    refusal: bool = False,
    clauses: Collection[str] | None = None,
    contract: Contract[L],
) -> ParsedReply[L | Label]: ...


def parse_reply(
    text: str | None,
    *,
    finish_reason: str | None = None,
    refusal: bool = False,
    clauses: Collection[str] | None = None,
    contract: Contract[L] = DEFAULT,  # type: ignore[assignment]  # the first overload is this default
) -> ParsedReply[L | Label]:
    """One reply as one reading.

    ``finish_reason`` and ``refusal`` are the provider's word on the reply: one that it cut or filtered is not whole, so
    that "exactly one object" cannot be said of it, and whatever it holds is no verdict. ``clauses`` are the guideline
    clauses that the criterion may cite (empty or None: any); another one is dropped and flagged, the label stands.
    """
    if stopped := _stopped(finish_reason, refusal=refusal):
        return stopped
    if text is None:
        return unparseable("no reply text")
    if len(text) > MAX_CHARS_WITH_REASONING:
        return abstain(Cause.REPLY_TOO_LARGE, f"longer than {MAX_CHARS_WITH_REASONING} characters")
    body = text.strip(_EDGE)
    if body.startswith("<"):
        body, reasoned = _after_reasoning(body)
        if reasoned and not body:
            return abstain(Cause.TRUNCATED, "reasoning and no answer")
    if not body:
        return unparseable("an empty reply")
    if len(body) > MAX_REPLY_CHARS:
        return abstain(Cause.REPLY_TOO_LARGE, f"longer than {MAX_REPLY_CHARS} characters")
    return _known_clause(_read(body, contract), clauses)


def _stopped(finish_reason: str | None, *, refusal: bool) -> ParsedReply[Label] | None:
    if refusal:
        return abstain(Cause.REFUSED, "the provider marks a refusal")
    if finish_reason is None or finish_reason == "stop":
        return None
    reason = finish_reason.casefold()
    if reason in _CUT:
        return abstain(Cause.TRUNCATED, f"finish reason {safe_token(finish_reason)}")
    if reason in _FILTERED:
        return abstain(Cause.REFUSED, f"finish reason {safe_token(finish_reason)}")
    return None


def _after_reasoning(body: str) -> tuple[str, bool]:
    """What follows the leading reasoning blocks, and whether there were any. An unclosed block swallows the rest."""
    at = 0
    while opening := _OPEN.match(body, at):
        closing = _CLOSE[opening[1].lower()].search(body, opening.end())
        at = closing.end() if closing else len(body)
    return (body[at:].strip(_EDGE), True) if at else (body, False)


def _read(body: str, contract: Contract[L]) -> ParsedReply[L | Label]:
    if contract.from_text is not None:
        parsed = contract.from_text(body)
        refused = parsed.cause is Cause.UNPARSEABLE and refuses(body)
        return abstain(Cause.REFUSED, "the judge declines in words") if refused else parsed
    try:
        found = only_object(body)
    except NotStrictJson as defect:
        if refuses(body):
            return abstain(Cause.REFUSED, "the judge declines in words")
        return unparseable(str(defect))
    assert contract.from_object is not None, f"contract {contract.name} has no reader"
    return contract.from_object(found)


def refuses(body: str) -> bool:
    """True when a reply without a verdict begins by declining to judge."""
    return _REFUSAL.search(body, 0, 400) is not None


def _known_clause(parsed: ParsedReply[L | Label], clauses: Collection[str] | None) -> ParsedReply[L | Label]:
    if not clauses or parsed.clause is None or parsed.clause in clauses:
        return parsed
    return replace(
        parsed,
        clause=None,
        detail=parsed.detail or f"unknown clause {safe_token(parsed.clause)}",
        flags=(*parsed.flags, Flag.UNKNOWN_CLAUSE),
    )


_EDGE: Final = " \t\r\n\v\f\0\ufeff\u00a0\u200b\u200c\u200d\u200e\u200f\u2060\u2028\u2029\u202a\u202b\u202c\u202d\u202e"
_OPEN = re.compile(r"\s*<(think|thinking|reasoning)>", re.IGNORECASE)
_CLOSE = {name: re.compile(f"</{name}>", re.IGNORECASE) for name in ("think", "thinking", "reasoning")}
_CUT = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "incomplete", "model_context_window_exceeded"}
)
_FILTERED = frozenset({"content_filter", "refusal", "safety", "blocklist", "prohibited_content", "spii", "recitation"})
_REFUSAL = re.compile(
    r"\b(?:I|we)(?:['’]m| am| are)?\s+(?:(?:am|are|really|sorry|afraid|but|that|so|very|,)\s*,?\s*){0,4}(?:I\s+|we\s+)?"
    r"(?:cannot|can['’]t|can not|unable to|not able to|won['’]t|will not|decline to|must decline)\s+(?:\w+\s+){0,2}?"
    r"(?:evaluat|judg|assess|grad|rat|assist|help|comply|provid|answer|respond|review|continu|do (?:that|this)|fulfil)"
    r"|\bas an AI(?: language)? model,? I (?:cannot|can['’]t)"
    r"|\A\W{0,5}(?:content|response|request|prompt) (?:was )?(?:blocked|filtered)\b",
    re.IGNORECASE,
)
