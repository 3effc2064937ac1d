"""The seams of the instrument: what judges is a ``Judge``, what answers a prompt is a ``Model``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from schemas.drafts import Draft
from schemas.verdicts import CriterionVerdict


class Judge(Protocol):
    """Decides one criterion of a draft. Never raises for what a draft, a model or a reply holds: it abstains."""

    @property
    def criterion_id(self) -> str: ...

    async def judge(self, draft: Draft, *, deadline: float) -> CriterionVerdict:
        """``deadline`` is a moment on the running event loop's clock (``loop.time()``, seconds)."""
        ...


class Prompt(NamedTuple):
    """A rendered prompt: our instructions, and the data under judgement."""

    system: str
    user: str


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked. ``schema`` is the JSON Schema of the reply; ``draft`` serves recorded judges alone."""

    criterion_id: str
    prompt: Prompt
    schema: Mapping[str, Any]
    draft: Draft


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, unread. Token counts are None where the provider did not say."""

    text: str | None
    finish_reason: str | None = None
    refusal: bool = False
    model: str | None = None
    fingerprint: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    calls: int = 1


class Model(Protocol):
    """Answers a question or raises ModelError with its cause; bounded in time by the deadline."""

    async def ask(self, question: Question, *, deadline: float) -> Reply: ...

    async def close(self) -> None: ...
