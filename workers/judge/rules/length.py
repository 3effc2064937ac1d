"""Rule ``length``: the text has no fewer and no more characters, words and sentences than the charter says."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Annotated, Self

from pydantic import Field, model_validator

from schemas.drafts import Draft
from schemas.verdict_space import Label
from schemas.verdicts import MAX_SPAN_CHARS
from workers.judge.rules.finding import PASSED, Params, RuleFinding

Count = Annotated[int, Field(ge=0, strict=True)] | None


class Length(Params):
    min_chars: Count = None
    max_chars: Count = None
    min_words: Count = None
    max_words: Count = None
    min_sentences: Count = None
    max_sentences: Count = None

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if not self.model_fields_set:
            raise ValueError(f"says nothing; give at least one of {', '.join(type(self).model_fields)}")
        for unit, least, most in self.bounds():
            if least is not None and most is not None and least > most:
                raise ValueError(f"min_{unit} {least} is above max_{unit} {most}; no text can have both")
        return self

    def bounds(self) -> tuple[tuple[str, int | None, int | None], ...]:
        return (
            ("chars", self.min_chars, self.max_chars),
            ("words", self.min_words, self.max_words),
            ("sentences", self.min_sentences, self.max_sentences),
        )


def check_length(draft: Draft, params: Length) -> RuleFinding:
    """A fail names count and bound. Too long: the evidence is where the excess begins. Too short: there is none."""
    for unit, least, most in params.bounds():
        if least is None and most is None:
            continue
        ends = _ENDS[unit](draft.text)
        if least is not None and len(ends) < least:
            return RuleFinding(Label.FAIL, f"The text has {len(ends)} {unit}; at least {least} are asked for.")
        if most is not None and len(ends) > most:
            excess = draft.text[ends[most - 1] if most else 0 :].strip()[:MAX_SPAN_CHARS]
            spans = (excess,) if excess else ()
            return RuleFinding(Label.FAIL, f"The text has {len(ends)} {unit}; at most {most} are allowed.", spans)
    return PASSED


def _word_ends(text: str) -> list[int]:
    return [word.end() for word in _WORD.finditer(text)]


def _sentence_ends(text: str) -> list[int]:
    """A sentence ends at . ! ? … before white space or the end, at 。, at a blank line. ``3.5`` ends none."""
    ends = [mark.end() for mark in _SENTENCE_END.finditer(text)]
    return [end for start, end in pairwise((0, *ends)) if _WORD.search(text, start, end)]


_WORD = re.compile(r"\w+(?:[-'’.,]\w+)*")
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s|\Z)|[。！？]|\n\s*\n|\Z")
_ENDS = {"chars": lambda text: range(1, len(text) + 1), "words": _word_ends, "sentences": _sentence_ends}
