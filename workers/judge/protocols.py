"""The seams of the instrument: what judges is a ``Judge``, what answers a prompt is a ``Model``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

from schemas.drafts import Draft
from schemas.verdict_space import Flag
from schemas.verdicts import CriterionVerdict


class Judge(Protocol):
    """Decides one criterion of a draft. Never raises for what a draft, a model or a reply holds: it abstains."""

    @property
    def criterion_id(self) -> str: ...

    async def judge(self, draft: Draft, *, deadline: float) -> CriterionVerdict:
        """``deadline`` is a moment on the running event loop's clock (``loop.time()``, seconds)."""
        ...


@runtime_checkable
class RecallingJudge(Judge, Protocol):
    """A judge that keeps its verdicts in the cache: what it said is read with what others said of the same draft."""

    def entry_of(self, draft: Draft) -> str | None:
        """The key of its verdict; None for a draft that it would not look at."""
        ...

    def recall(self, entry: bytes | None) -> CriterionVerdict | None:
        """The verdict that stands under that key; None where there is none that can be read: ``judge`` it then."""
        ...


class Prompt(NamedTuple):
    """A rendered prompt: our instructions, and the data under judgement."""

    system: str
    user: str


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked. ``schema`` is the JSON Schema of the reply, as vendors' strict modes take it.

    ``draft``, and whether a comparison shows the rival first (``swapped``), serve recorded and scripted judges alone.
    """

    criterion_id: str
    prompt: Prompt
    schema: Mapping[str, Any]
    draft: Draft
    swapped: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, unread. Token counts are None where the provider did not say.

    ``reasoned`` is True when the model wrote reasoning and no answer (``text`` is None then). ``flags`` are what a
    provider of ours had to do to make the reply (recorded judges); a live model raises none. ``label_probability`` is
    that of the label's tokens; where it was asked for and is not there, ``label_probability_absent`` says why.
    """

    text: str | None
    finish_reason: str | None = None
    refusal: bool = False
    reasoned: bool = False
    model: str | None = None
    fingerprint: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    calls: int = 1
    flags: tuple[Flag, ...] = ()
    label_probability: float | None = None
    label_probability_absent: str | None = None


class Model(Protocol):
    """Answers a question or raises ModelError with its cause. ``RetryingModel`` is what bounds the time it takes."""

    async def ask(self, question: Question, *, deadline: float) -> Reply: ...

    async def close(self) -> None: ...


class Counters(Protocol):
    """Where a judge counts what happens: ``name`` is a metric of the runtime's table, ``labels`` are its labels."""

    def count(self, name: str, amount: float = 1, **labels: str) -> None: ...


class NoCounters:
    """Counts nothing: for a judge that is tried out by hand."""

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        return None
