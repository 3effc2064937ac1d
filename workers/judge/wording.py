"""Does the judge's language show in a text that users will read (S2 7.6 item 3)?

A generator that is told what was wrong may copy the telling. A text leaks when it shares a run of words with the
judge's wording - reasons, clauses, rubrics - that an honest text would hardly share, or names a field of its reply.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Self

from schemas.bom import Bom

RUN: Final = 8
"""Words in a row: long enough that stock phrases of product copy, four or five words, are no leak."""


@dataclass(frozen=True)
class Wording:
    """Everything the judge says by itself, as runs of words."""

    runs: frozenset[tuple[str, ...]]

    @classmethod
    def of(cls, bom: Bom) -> Self:
        """The wording of a BOM: its clauses and rubrics."""
        return cls(_all_runs([*bom.clauses.values(), *bom.rubrics.values()]))

    def leaks_into(self, text: str) -> bool:
        """True when the text names a reply's field or repeats a run of this wording."""
        if "_" in text and _FIELDS.search(text) is not None:
            return True
        lowered = text.lower()
        if lowered.isascii() and self.fours.isdisjoint(_every_fourth_four(_pieces(lowered))):
            return False  # a fifth of the time that finding the words takes, and usually the end
        words = _WORD.findall(lowered)
        # Runs are looked up only where the wording knows eight words in a row: hardly ever in an honest text.
        known = bytes(map(self.words.__contains__, words))
        at = known.find(_ALL_KNOWN)
        while at >= 0:
            if tuple(words[at : at + RUN]) in self.runs:
                return True
            at = known.find(_ALL_KNOWN, at + 1)
        return False

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(word for run in self.runs for word in run)

    @cached_property
    def fours(self) -> frozenset[tuple[bytes, ...]]:
        """All four pieces in a row that the wording's ASCII runs hold."""
        ascii_runs = (_pieces(run) for run in map(" ".join, self.runs) if run.isascii())
        return frozenset(four for pieces in ascii_runs for four in zip(*(pieces[at:] for at in range(4)), strict=False))


def leaks(text: str, wordings: Iterable[str], *, earlier: str = "") -> bool:
    """True when a text speaks the judge's words: reasons and clauses it was told. Pure.

    ``earlier`` is the draft that the reasons were about: what stood there already was quoted from it and is no leak.
    """
    return Wording(_all_runs(wordings) - frozenset(_runs(earlier))).leaks_into(text)


def _all_runs(texts: Iterable[str]) -> frozenset[tuple[str, ...]]:
    return frozenset(run for text in texts for run in _runs(text))


def _runs(text: str) -> Iterable[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return zip(*(words[start:] for start in range(RUN)), strict=False)


def _pieces(text: str) -> list[bytes]:
    """The runs of letters, digits and underscores of an ASCII text; its words, but for those with an apostrophe."""
    return text.encode().translate(_SPACED).split()


def _every_fourth_four(pieces: list[bytes]) -> Iterable[tuple[bytes, ...]]:
    """The first four, the next four, and so on: wherever eight in a row begin, four of them are among these."""
    return zip(*(pieces[at::4] for at in range(4)), strict=False)


_SPACED = bytes(code if chr(code).isalnum() or chr(code) == "_" else ord(" ") for code in range(256))
_ALL_KNOWN = b"\x01" * RUN
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_FIELDS = re.compile(r"\b(?:evidence_spans?|guideline_clause)\b", re.IGNORECASE)
