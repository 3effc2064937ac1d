"""What is read out of a judge's reply: a decision, or a non-decision with its cause and the exact defect."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from schemas.verdict_space import Cause, Choice, Flag, Label

L = TypeVar("L", bound=Label | Choice | int, covariant=True)


@dataclass(frozen=True, slots=True)
class ParsedReply(Generic[L]):
    """One reply, read. ``detail`` names a defect in our words; it holds no text of the reply beyond a short safe token.

    ``spans`` are the judge's quotes as it wrote them: whether they occur in the draft is ``spans.verify_spans``'s.
    ``scores`` holds numbers that stand beside the label, typed and in range; a score that is not is absent.
    """

    label: L
    cause: Cause | None = None
    detail: str | None = None
    reason: str | None = None
    spans: tuple[str, ...] = ()
    clause: str | None = None
    flags: tuple[Flag, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)  # no slots: Contract[X](...) sets an attribute of typing's own
class Contract(Generic[L]):
    """One shape a judge may be asked to reply in. Just one of the two readers is given.

    ``from_object`` reads the reply's only JSON object, ``from_text`` the reply as prose. Both are total.
    """

    name: str
    shape: str  # for people, as a judge would be told
    from_object: Callable[[dict[str, Any]], ParsedReply[L | Label]] | None = None
    from_text: Callable[[str], ParsedReply[L | Label]] | None = None


def abstain(cause: Cause, detail: str) -> ParsedReply[Label]:
    """No decision, and why."""
    return ParsedReply(Label.ABSTAIN, cause, detail)


def unparseable(defect: str) -> ParsedReply[Label]:
    return abstain(Cause.UNPARSEABLE, defect)


def safe_token(text: object) -> str:
    """A name out of a reply as it may stand in a detail: short and harmless, or a word for what it is."""
    return f"'{text}'" if isinstance(text, str) and _TOKEN.fullmatch(text) else "(not shown)"


_TOKEN = re.compile(r"[A-Za-z0-9_.-]{1,40}")
