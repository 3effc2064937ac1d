"""A producer's generator, small enough to read: it mends a draft by the data of a revision request.

It stands for the producer's side in the demo. What it knows of a fail is what every producer is told: the clause, and
the spans of its own draft that break it. It works on one clause a round, as a hurried writer does, so that a draft with
three faults takes three revisions. A clause that it does not understand leaves the text as it is, and the retry budget
runs out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from schemas.drafts import Draft, Revises
from schemas.revisions import RevisionNote, RevisionRequest

MAX_CHARS = 600
"""The longest description that the page has room for (guideline clause G-3.2)."""


def revise(draft: Draft, request: RevisionRequest, *, now: datetime | None = None) -> Draft | None:
    """The next attempt at an item, or None for a request that is about another draft.

    ``revises`` echoes three values of the request; a producer computes none of them. Item, context and slices stay.
    """
    if (request.item_id, request.judged_sha256) != (draft.item_id, draft.judged_sha256):
        return None
    return Draft(
        item_id=draft.item_id,
        attempt=request.next_attempt,
        text=_mended(draft, request.notes) or draft.text,
        generator_model=draft.generator_model,
        context=draft.context,
        slices=draft.slices,
        revises=Revises(
            revision_id=request.revision_id, round_id=request.round_id, judged_sha256=request.judged_sha256
        ),
        created_at=now,
    )


def _mended(draft: Draft, notes: Sequence[RevisionNote]) -> str:
    """The text after the first note that the writer understands."""
    sheet = next((item.metadata for item in draft.context.items if item.role == "target"), None)
    text = _INVISIBLE.sub("", draft.text)  # spans come back without invisible characters: they must be found again
    for note in notes:
        if mend := _MENDS.get(note.guideline_clause or ""):
            return mend(text, [span for span in note.evidence_spans if span.strip()], sheet)
    return draft.text


# ---- what it does about each clause: text, offending spans, spec sheet -> text


def _correct_numbers(text: str, spans: Sequence[str], sheet: Any) -> str:
    """Puts the spec sheet's figure where the draft has another one; leaves a figure the sheet says nothing about."""
    known = list(_quantities(sheet))
    for span in spans:
        sentence = next((s for s in _sentences(text) if span in s), span)
        for claim in _QUANTITY.finditer(span):
            same_unit = [q for q in known if q.unit == _unit(claim["unit"])]
            if same_unit:
                right = max(same_unit, key=lambda quantity: quantity.words_shared_with(sentence))
                text = text.replace(claim[0], right.written)
    return text


def _tone_down(text: str, spans: Sequence[str], sheet: Any) -> str:
    """Swaps a word for a tamer one where it knows one; else cuts the sentence."""
    for span in spans:
        tamer = _TAMER.get(span.lower())
        text = text.replace(span, tamer) if tamer else _cut_sentences(text, (span,), sheet)
    return text


def _cut_sentences(text: str, spans: Sequence[str], sheet: Any) -> str:
    """Drops every sentence that holds an offending span. What is not said cannot be wrong."""
    return "".join(s for s in _sentences(text) if not any(span in s for span in spans)).strip()


def _name_the_product(text: str, spans: Sequence[str], sheet: Any) -> str:
    """Opens with the name on the spec sheet."""
    name = sheet.get("name") if isinstance(sheet, dict) else None
    return f"{name}: {text}" if isinstance(name, str) else text


def _shorten(text: str, spans: Sequence[str], sheet: Any) -> str:
    """Keeps the sentences from the top that fit the page. It cannot make a short text longer."""
    kept = ""
    for sentence in _sentences(text):
        if len((kept + sentence).strip()) > MAX_CHARS:
            break
        kept += sentence
    return kept.strip()


_MENDS: dict[str, Callable[[str, Sequence[str], Any], str]] = {
    "G-1.1": _correct_numbers,
    "G-1.2": _cut_sentences,
    "G-1.3": _cut_sentences,
    "G-1.4": _cut_sentences,
    "G-2.1": _tone_down,
    "G-2.2": _tone_down,
    "G-2.3": _cut_sentences,
    "G-3.1": _name_the_product,
    "G-3.2": _shorten,
}
"""G-2.4 (claims between the lines) and G-3.3 (words to a checking system) are beyond this writer."""

_TAMER = {"unbeatable": "handy", "indestructible": "robust"}


# ---- reading figures


class _Quantity(NamedTuple):
    """A figure of the spec sheet, where it stands and how it is written there."""

    path: str
    unit: str
    written: str

    def words_shared_with(self, sentence: str) -> int:
        return sum(word in sentence.lower() for word in re.findall(r"[a-z]{3,}", self.path.lower()))


_QUANTITY = re.compile(r"(?P<number>\d+(?:[.,]\d+)*)[ \u00a0-]?(?P<unit>[A-Za-z°µ²³/%]+)")
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)\s*|$)", re.DOTALL)
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_LONG_UNITS = {"hour": "h", "hours": "h", "minute": "min", "minutes": "min", "months": "month", "persons": "person"}


def _quantities(sheet: Any, path: str = "") -> Iterator[_Quantity]:
    """Every figure with a unit in a spec sheet, however deep."""
    if isinstance(sheet, dict):
        for key, value in sheet.items():
            yield from _quantities(value, f"{path} {key}")
    elif isinstance(sheet, list):
        for value in sheet:
            yield from _quantities(value, path)
    elif isinstance(sheet, str):
        yield from (_Quantity(path, _unit(m["unit"]), m[0]) for m in _QUANTITY.finditer(sheet))


def _unit(written: str) -> str:
    return _LONG_UNITS.get(written.lower(), written)


def _sentences(text: str) -> list[str]:
    return _SENTENCE.findall(text)
