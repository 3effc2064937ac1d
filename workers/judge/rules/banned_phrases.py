"""Rule ``banned_phrases``: none of these phrases and patterns occurs in the text.

Patterns run on RE2, whose time is linear in the text whatever the pattern and the draft: no draft can hang a worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, NamedTuple, Self

import re2  # type: ignore[import-untyped]
from pydantic import Field, StringConstraints, field_validator, model_validator

from schemas.drafts import Draft
from schemas.verdict_space import Label
from schemas.verdicts import MAX_SPAN_CHARS, MAX_SPANS
from workers.judge.rules.finding import PASSED, Params, RuleFinding
from workers.judge.rules.phrases import PhraseFinder

MAX_PATTERN_CHARS = 500
MAX_PATTERN_MEMORY = 1 << 20
Phrase = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"\S")]
Pattern = Annotated[str, StringConstraints(min_length=1, max_length=MAX_PATTERN_CHARS)]


class _Search(NamedTuple):
    """``sieve`` finds whether any of the ``patterns`` would; None where there are none, or they cannot be joined."""

    finder: PhraseFinder | None = None
    patterns: tuple[Any, ...] = ()
    sieve: Any = None


class BannedPhrases(Params):
    """``phrases`` match as whole words, however written; ``patterns`` are RE2 expressions, without regard to case."""

    phrases: Annotated[tuple[Phrase, ...], Field(max_length=2_000)] = ()
    patterns: Annotated[tuple[Pattern, ...], Field(max_length=100)] = ()

    @field_validator("patterns")
    @classmethod
    def _compile(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            compile_pattern(pattern)
        return patterns

    @model_validator(mode="after")
    def _prepared(self) -> Self:
        if not self.phrases and not self.patterns:
            raise ValueError("bans nothing; give phrases or patterns")
        assert self.search  # compiled before a worker starts
        return self

    @cached_property
    def search(self) -> _Search:
        finder = PhraseFinder(self.phrases) if self.phrases else None
        return _Search(finder, tuple(compile_pattern(pattern) for pattern in self.patterns), _sieve(self.patterns))

    def hits(self, text: str) -> list[str]:
        """Every banned slice of a text, the phrases' first; blank and overlong ones bounded."""
        finder, compiled, sieve = self.search
        found = [piece for _, piece in finder(text)] if finder else []
        if sieve is not None and sieve.search(text) is None:
            compiled = ()
        for pattern in compiled:
            found += [hit.group()[:MAX_SPAN_CHARS] for hit in pattern.finditer(text) if hit.group().strip()]
        return list(dict.fromkeys(found))


def compile_pattern(pattern: str, *, memory: int = MAX_PATTERN_MEMORY) -> Any:
    """A linear-time pattern. Raises ValueError, with the remedy, for what RE2 does not take or what matches nothing."""
    options = re2.Options()
    options.case_sensitive, options.log_errors, options.max_mem = False, False, memory
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        why = error.args[0].decode(errors="replace") if error.args and isinstance(error.args[0], bytes) else str(error)
        raise ValueError(f"no RE2 pattern ({why}); look-around and back-references are not known there") from error
    if compiled.search("") is not None:
        raise ValueError("matches the empty text, so that every draft would fail; ask for at least one character")
    return compiled


def _sieve(patterns: Sequence[str]) -> Any:
    """All patterns as one, which says in one pass what is usual: that nothing is there."""
    if len(patterns) < 2:
        return None
    try:
        return compile_pattern(
            "|".join(f"(?:{pattern})" for pattern in patterns), memory=MAX_PATTERN_MEMORY * len(patterns)
        )
    except ValueError:  # two groups of one name
        return None


def find_banned_phrases(draft: Draft, params: BannedPhrases) -> RuleFinding:
    """A fail whose evidence is every banned slice."""
    hits = params.hits(draft.text)
    if not hits:
        return PASSED
    plural = "s" if len(hits) > 1 else ""
    reason = f"The text uses {len(hits)} banned wording{plural}."
    return RuleFinding(Label.FAIL, reason, tuple(hits[:MAX_SPANS]))
