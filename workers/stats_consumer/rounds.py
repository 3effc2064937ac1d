"""Rounds that are open, and the last ones that were closed: what has been counted, and what is still owed.

A judge that was killed says things again; the round knows what it has heard. Nothing else of an attempt is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

import orjson

from schemas.decisions import ItemDecision
from schemas.revisions import revision_id_after
from schemas.telemetry import AttemptRecord
from schemas.verdict_space import Label
from schemas.verdicts import AttemptOutcome

_ID_CHARS = 13  # of an event id: enough to tell two attempts of one round apart


class Heard(NamedTuple):
    """One attempt, its ids cut. ``asks`` is the revision request it led to, ``answers`` the one it quotes, or empty."""

    draft_id: str
    failed: tuple[str, ...]
    asks: str
    answers: str


@dataclass(slots=True)
class Round:
    """One round of one item. ``status`` is what is counted of it beside its decision; times are epoch seconds."""

    round_id: str
    item_id: str
    bom_version: str
    first_at: float = 0.0  # of attempt 0; 0 = not seen yet
    last_at: float = 0.0
    attempts: dict[int, Heard] = field(default_factory=dict)
    decided: tuple[str, int, str] | None = None  # decision, attempt, judged_sha256
    status: str | None = None
    status_pane: int = 0
    others: list[str] = field(default_factory=list)  # ids of what was said otherwise, counted once each

    @property
    def open(self) -> bool:
        return self.decided is None

    @property
    def failed(self) -> dict[int, tuple[str, ...]]:
        """Attempt -> the criteria it failed."""
        return {attempt: heard.failed for attempt, heard in self.attempts.items()}

    def hears(self, record: AttemptRecord) -> bool:
        """Take an attempt in. False when it was heard before, or another text of this attempt was."""
        if record.attempt in self.attempts:
            return False
        asks = ""
        if record.attempt_outcome is AttemptOutcome.REVISE:
            asks = revision_id_after(record.draft_event_id, record.judged_sha256, record.bom_version)
        self.attempts[record.attempt] = Heard(
            record.draft_event_id[:_ID_CHARS],
            tuple([v.criterion_id for v in record.verdicts if v.label is Label.FAIL]),
            asks[:_ID_CHARS],
            (record.revision_id or "")[:_ID_CHARS],
        )
        at = record.judged_at.timestamp()
        self.last_at = max(self.last_at, at)
        if record.attempt == 0:
            self.first_at = at
        return True

    def another_text(self, record: AttemptRecord) -> bool:
        """Whether this attempt was counted with another draft; True once for each."""
        id_ = record.draft_event_id[:_ID_CHARS]
        return self.attempts[record.attempt].draft_id != id_ and self._news(id_)

    def answered_wrongly(self, attempt: int) -> int:
        """Of this attempt and the next one: how many quote another request than the attempt before led to.

        To be asked when the attempt is heard for the first time: in whatever order two come, the second one tells.
        """
        if len(self.attempts) == 1:
            return 0
        pairs = [(self.attempts.get(at - 1), self.attempts.get(at)) for at in (attempt, attempt + 1)]
        return sum(one.asks != two.answers for one, two in pairs if one is not None and two is not None)

    def ends(self, decision: ItemDecision) -> bool:
        """Take its decision in. False when there was one before."""
        if self.decided is not None:
            return False
        self.decided = _said(decision)
        self.last_at = max(self.last_at, decision.decided_at.timestamp())
        return True

    def conflicts(self, decision: ItemDecision) -> bool:
        """Whether it was decided otherwise than this says; True once for each way."""
        said = _said(decision)
        return self.decided != said and self._news("|".join(map(str, said)))

    def _news(self, other: str) -> bool:
        if other in self.others:
            return False
        self.others.append(other)
        return True

    def row(self) -> bytes:
        attempts = [[attempt, *heard] for attempt, heard in self.attempts.items()]
        return orjson.dumps(
            [self.item_id, self.bom_version, self.first_at, self.last_at, attempts, self.decided, self.status,
             self.status_pane, self.others]
        )  # fmt: skip

    @classmethod
    def of(cls, round_id: str, row: bytes) -> Round:
        item, bom, first, last, attempts, decided, status, pane, others = orjson.loads(row)
        heard = {attempt: Heard(id_, tuple(failed), asks, answers) for attempt, id_, failed, asks, answers in attempts}
        return cls(round_id, item, bom, first, last, heard, tuple(decided) if decided else None, status, pane, others)


class Rounds:
    """All rounds remembered. Closed ones are forgotten in the order of their end beyond ``closed_kept``."""

    def __init__(self, *, closed_kept: int = 200_000) -> None:
        self.by_id: dict[str, Round] = {}
        self.by_item: dict[str, list[str]] = {}
        self._closed: dict[str, None] = {}
        self._closed_kept = closed_kept
        self.touched: set[str] = set()

    def of(self, said: AttemptRecord | ItemDecision) -> Round:
        """The round that something is said of, a new one where nothing was before; its row is to be written."""
        round_id = said.round_id
        round_ = self.by_id.get(round_id)
        if round_ is None:
            round_ = Round(round_id, said.item_id, said.bom_version)
            self.put(round_)
        self.touched.add(round_id)
        return round_

    def ended(self, round_: Round) -> None:
        """Queue a closed round to be forgotten."""
        self._closed[round_.round_id] = None

    def of_item(self, item_id: str) -> list[Round]:
        return [self.by_id[id_] for id_ in self.by_item.get(item_id, ())]

    def only_one(self, round_: Round) -> bool:
        """Whether its item has no other round: as with most."""
        return len(self.by_item[round_.item_id]) == 1

    def superseded(self, round_: Round) -> bool:
        """Still open though a later round of the item has begun."""
        newest = max(other.first_at for other in self.of_item(round_.item_id))
        return round_.open and 0 < round_.first_at < newest

    def open_rounds(self) -> Iterator[Round]:
        """Rounds that somebody still owes an answer."""
        return (r for r in self.by_id.values() if r.open and r.status is None)

    def overdue(self, *, before: datetime) -> list[Round]:
        limit = before.timestamp()
        return [round_ for round_ in self.open_rounds() if round_.last_at < limit]

    def forget(self) -> list[str]:
        """Drop the closed rounds that are too many; their ids."""
        gone = []
        while len(self._closed) > self._closed_kept:
            round_id = next(iter(self._closed))
            del self._closed[round_id]
            self._drop(round_id)
            gone.append(round_id)
        return gone

    def give_up(self, *, before: datetime) -> list[str]:
        """Drop abandoned and restarted rounds of long ago; their ids."""
        limit = before.timestamp()
        gone = [r.round_id for r in self.by_id.values() if r.open and r.status is not None and r.last_at < limit]
        for round_id in gone:
            self._drop(round_id)
        return gone

    def put(self, round_: Round) -> None:
        """A stored round, back in memory."""
        self.by_id[round_.round_id] = round_
        self.by_item.setdefault(round_.item_id, []).append(round_.round_id)
        if not round_.open:
            self.ended(round_)

    def _drop(self, round_id: str) -> None:
        round_ = self.by_id.pop(round_id)
        self.touched.discard(round_id)
        others = self.by_item[round_.item_id]
        others.remove(round_id)
        if not others:
            del self.by_item[round_.item_id]


def _said(decision: ItemDecision) -> tuple[str, int, str]:
    return (str(decision.decision), decision.attempt, decision.judged_sha256)
