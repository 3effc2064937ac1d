"""A judge whose replies are written down in the BOM: for trying out, demos and tests. A provider like any other."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Self

import yaml
from pydantic import Field, JsonValue, ValidationError, model_validator

from schemas.errors import BomError, ModelError
from schemas.strict import Strict
from schemas.verdict_space import Cause
from workers.judge.protocols import Question, Reply


class ScriptedModel:
    """Answers with what a function makes of the question; the function may raise ModelError, or be a coroutine."""

    def __init__(self, answer: Callable[[Question], Reply | Awaitable[Reply]]) -> None:
        self._answer = answer

    async def ask(self, question: Question, *, deadline: float) -> Reply:
        reply = self._answer(question)
        return await reply if inspect.isawaitable(reply) else reply

    async def close(self) -> None:
        return None


class Answer(Strict):
    """What is said: ``reply`` is an object (sent as JSON) or a raw string; ``error`` names the cause of a failure."""

    reply: dict[str, JsonValue] | str | None = None
    error: Cause | None = None
    retry_after_s: Annotated[float, Field(ge=0)] | None = None
    latency_s: Annotated[float, Field(ge=0, le=3600)] = 0.0
    finish_reason: str | None = "stop"
    model: str | None = None  # the model that says it was asked; None = the pinned one
    input_tokens: Annotated[int, Field(ge=0)] | None = None
    output_tokens: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.reply is None) == (self.error is None):
            raise ValueError("give either a reply or an error")
        return self


class Case(Answer):
    """An answer for the drafts it fits: of one criterion, holding a text, matching a pattern. Absent = any.

    ``rival_first`` tells the two orders of a comparison apart.
    """

    criterion: str | None = None
    contains: str | None = None
    matches: str | None = None  # regular expression, searched for in the draft's text
    rival_first: bool | None = None
    times: Annotated[int, Field(ge=1)] | None = None  # answers this often per draft, then the next case that fits does

    @model_validator(mode="after")
    def _pattern_compiles(self) -> Self:
        try:
            re.compile(self.matches or "")
        except re.error as error:
            raise ValueError(f"matches is no regular expression: {error}") from error
        return self

    def fits(self, question: Question) -> bool:
        text = question.draft.text
        return (
            (self.criterion is None or self.criterion == question.criterion_id)
            and self.rival_first in (None, question.swapped)
            and (self.contains is None or self.contains in text)
            and (self.matches is None or re.search(self.matches, text) is not None)
        )


class _File(Strict):
    cases: tuple[Case, ...] = ()
    default: Answer


class Script:
    """The first case that fits answers, else the default. The same drafts get the same answers in any order."""

    def __init__(self, cases: tuple[Case, ...], default: Answer, *, model: str) -> None:
        self._cases, self._default, self._model = cases, default, model
        self._said: Counter[tuple[int, str, str]] = Counter()

    @classmethod
    def read(cls, name: str, raw: bytes, *, model: str) -> Script:
        """A script out of the BOM's YAML file. Raises BomError with the place of what is wrong."""
        try:
            script = _File.model_validate(yaml.safe_load(raw.decode("utf-8")))
        except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
            raise BomError(f"{name}: not YAML: {_where(error)}") from error
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"]) or "the document"
            raise BomError(f"{name}: {place}: {first['msg']}") from error
        return cls(script.cases, script.default, model=model)

    async def __call__(self, question: Question) -> Reply:
        answer = self._pick(question)
        await asyncio.sleep(answer.latency_s)
        if answer.error is not None:
            raise ModelError(answer.error, "scripted", retry_after_s=answer.retry_after_s)
        return Reply(
            text=answer.reply if isinstance(answer.reply, str) else json.dumps(answer.reply, ensure_ascii=False),
            finish_reason=answer.finish_reason,
            model=answer.model or self._model,
            input_tokens=answer.input_tokens,
            output_tokens=answer.output_tokens,
        )

    def _pick(self, question: Question) -> Answer:
        for number, case in enumerate(self._cases):
            if case.fits(question) and self._has_left(number, case, question):
                return case
        return self._default

    def _has_left(self, number: int, case: Case, question: Question) -> bool:
        if case.times is None:
            return True
        asked = (number, question.criterion_id, question.draft.judged_sha256)
        self._said[asked] += 1
        return self._said[asked] <= case.times


def _where(error: Exception) -> str:
    mark: Any = getattr(error, "problem_mark", None)
    return type(error).__name__ if mark is None else f"line {mark.line + 1}: {getattr(error, 'problem', '')}"
