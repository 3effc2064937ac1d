"""Phrases found in a text however they are written: case, white space, quotes, hidden characters, look-alike letters.

What is found is always the exact slice of the original text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

import re2  # type: ignore[import-untyped]

from workers.judge.folding import QUOTES, Folded, fold
from workers.judge.neutralise import LOOKALIKES

# Letters of other scripts that are drawn like Latin ones; enough to see through a disguise, no full confusables table.
_LETTERS: Final = dict(
    zip(
        "АВЕКМНОРСТУХаеорсухіїјѕԁһԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧαοριντυ",
        "ABEKMHOPCTYXaeopcyxiijsdhqwABEZHIKMNOPTYXaopivtu",
        strict=True,
    )
)
_FULL_WIDTH: Final = {chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F)}
_DASHES: Final = dict.fromkeys("‐‑‒–—−", "-")
_WORD = re.compile(r"\w")
_TABLE: Final = str.maketrans(QUOTES | _FULL_WIDTH | _LETTERS | LOOKALIKES | _DASHES | {"İ": "I"})


class PhraseFinder:
    """Searches for many phrases at once."""

    def __init__(self, phrases: Iterable[str]) -> None:
        longest_first = sorted({_plain(phrase) for phrase in phrases}, key=len, reverse=True)
        self._pattern = re.compile("|".join(_bounded(phrase) for phrase in longest_first))
        self._sieve = re2.compile("|".join(_body(phrase) for phrase in longest_first))

    def __call__(self, text: str) -> Iterator[tuple[str, str]]:
        """Every hit as (phrase as folded, slice of the text), in order."""
        folded, lowered = _searchable(text)
        if self._sieve.search(lowered) is None:  # thirty times faster than the exact search, and usually the end
            return
        for hit in self._pattern.finditer(lowered):
            yield hit[0], text[folded.original(hit.start()) : folded.original(hit.end() - 1) + 1]


def mentioned(phrase: str, text: str) -> bool:
    """Whether one phrase occurs. For phrases that come with a draft: usually no pattern need be made."""
    plain, lowered = _plain(phrase), _searchable(text)[1]
    at = lowered.find(plain)
    while at >= 0:
        if _is_bounded(plain, lowered, at):
            return True
        at = lowered.find(plain, at + 1)
    # Only white space may be written in other ways than a finder's literal.
    return " " in plain and re.search(_bounded(plain), lowered) is not None


def _is_bounded(phrase: str, text: str, at: int) -> bool:
    """The same as the look-arounds of ``_bounded``."""
    end = at + len(phrase)
    return not (at and phrase[:1].isalnum() and _WORD.match(text, at - 1)) and not (
        phrase[-1:].isalnum() and _WORD.match(text, end)
    )


@lru_cache(maxsize=2)  # all rules look at one draft, one after the other
def _searchable(text: str) -> tuple[Folded, str]:
    folded = fold(text, _TABLE)
    return folded, _lower(folded.text)


def _plain(phrase: str) -> str:
    return _lower(fold(phrase, _TABLE).text.strip())


def _lower(text: str) -> str:
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _bounded(phrase: str) -> str:
    """The phrase as whole words; a space in it may be written as a hyphen."""
    before = r"(?<!\w)" if phrase[:1].isalnum() else ""
    after = r"(?!\w)" if phrase[-1:].isalnum() else ""
    return before + _body(phrase) + after


def _body(phrase: str) -> str:
    return re.escape(phrase).replace(r"\ ", r"[\s-]+")
