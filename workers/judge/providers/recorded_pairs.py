"""Replays comparisons that were recorded in both orders, as replies that keep today's contract."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from schemas.errors import BomError, ModelError
from schemas.verdict_space import Cause, Choice, Flag
from schemas.verdicts import MAX_SPAN_CHARS
from workers.judge.protocols import Question, Reply
from workers.judge.providers.recorded import NO_REASON, RECORDING_ROLE, record_of, rows_of

_CHOICES = {"A": Choice.A, "B": Choice.B, "tie": Choice.TIE}


class RecordedPair(NamedTuple):
    """What one judge preferred with A shown first, and with B shown first; None = it gave no preference.

    Both name the texts, not the places: A is the draft. The reply that is made of one names places again.
    """

    draft_first: Choice | None
    rival_first: Choice | None


class RecordedPairsModel:
    """Answers with one recorded judge's preference for the order that is asked; not_recorded where there is none."""

    def __init__(self, pairs: Mapping[str, RecordedPair], *, judge: str, clause: str) -> None:
        self._pairs, self._judge, self._clause = pairs, judge, clause

    async def ask(self, question: Question, *, deadline: float) -> Reply:
        record = record_of(question.draft)
        if record is None:
            raise ModelError(Cause.NOT_RECORDED, f"the draft has no context item of role {RECORDING_ROLE}")
        pair = self._pairs.get(record, RecordedPair(None, None))
        preference = pair.rival_first if question.swapped else pair.draft_first
        if preference is None:
            raise ModelError(Cause.NOT_RECORDED, "the recorded judge gave no preference for this draft and order")
        reply, flags = self._contractual(preference, question)
        return Reply(json.dumps(reply, ensure_ascii=False), finish_reason="stop", model=self._judge, flags=flags)

    async def close(self) -> None:
        return None

    def _contractual(self, preference: Choice, question: Question) -> tuple[dict[str, Any], tuple[Flag, ...]]:
        """A preference as a judge would say it, by places. No span is on record: the text that lost is the span."""
        shown = preference.mirrored if question.swapped else preference
        reply: dict[str, Any] = {"preference": shown, "reason": NO_REASON}
        if preference is Choice.TIE:
            return reply, ()
        lost = question.draft.text if preference is Choice.B else question.draft.rival or ""
        span = lost.strip()[:MAX_SPAN_CHARS]
        return reply | {"evidence_spans": [span], "guideline_clause": self._clause}, (Flag.SPAN_INVENTED,)


def read_recorded_pairs(name: str, raw: bytes, *, judge: str) -> Mapping[str, RecordedPair]:
    """One judge's comparisons by row id, out of JSONL rows with ``item_id`` and ``judges[{model, AB, BA}]``.

    ``AB`` and ``BA`` are ``A``, ``B``, ``tie`` or null. A row that names the judge twice counts with the first. Raises
    BomError with the line of what cannot be read, and for a judge that no row has, with the names there are.
    """
    return {
        row: RecordedPair(_choice(place, "AB", said), _choice(place, "BA", said))
        for place, row, said in rows_of(name, raw, judge=judge)
    }


def _choice(place: str, order: str, said: Mapping[str, Any]) -> Choice | None:
    word = said.get(order)
    if word is None:
        return None
    if not isinstance(word, str) or word not in _CHOICES:
        raise BomError(f"{place}: judges.{order}: {word!r:.40} is not A, B, tie or null")
    return _CHOICES[word]
