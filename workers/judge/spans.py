"""Evidence spans: is a quote really in the draft, and may it be used again (S2 8.1, 7.6 item 8).

A judge invents quotes, or copies strings planted in the metadata. Only what occurs in the draft goes on, and what goes
on is the draft's own slice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from schemas.verdicts import MAX_SPAN_CHARS, MAX_SPANS
from workers.judge.folding import Folded, fold
from workers.judge.neutralise import ESCAPE, INVISIBLE, neutralise

MAX_REUSED_CHARS: Final = 300


class VerifiedSpans(NamedTuple):
    """``spans`` are exact slices of the draft, in the judge's order and once each; ``dropped`` counts the others."""

    spans: tuple[str, ...]
    dropped: int


class SpanVerifier:
    """Finds quotes in one draft. The draft is folded once, and only when a quote is not verbatim."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._folded: Folded | None = None

    def find(self, quote: str) -> str | None:
        """The slice of the draft that a quote stands for, or None: blank, longer than MAX_SPAN_CHARS, or not there."""
        if len(quote) > MAX_SPAN_CHARS or not (wanted := fold(quote).text.strip()):
            return None
        if quote in self._text:
            return quote
        if self._folded is None:
            self._folded = fold(self._text)
        at = self._folded.text.find(wanted)
        if at < 0:
            return None
        found = self._text[self._folded.original(at) : self._folded.original(at + len(wanted) - 1) + 1]
        return found if len(found) <= MAX_SPAN_CHARS else None


def verify_spans(quotes: Iterable[str], text: str) -> VerifiedSpans:
    """Every quote that occurs in the draft, as the draft has it; at most MAX_SPANS."""
    verifier = SpanVerifier(text)
    found = [verifier.find(quote) for quote in quotes]
    spans = tuple(dict.fromkeys(span for span in found if span is not None))[:MAX_SPANS]
    return VerifiedSpans(spans, sum(span is None for span in found))


def sanitise_span(span: str, *, max_chars: int = MAX_REUSED_CHARS) -> str:
    """A span fit to stand in a generator's prompt: one line, no hidden character, no structure. Idempotent."""
    seen = neutralise(_UNSEEN.sub("", span))
    line = neutralise(" ".join(seen.split()))
    return line if len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"


_UNSEEN = re.compile(f"{ESCAPE}|[{INVISIBLE}]")
