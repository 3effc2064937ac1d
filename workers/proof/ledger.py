"""What the topics hold of drafts, attempts, decisions and served texts, as far as the claims need it. A fold; pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

import orjson

from schemas.dead_letter import DeadLetter
from schemas.decisions import Decision, ItemDecision, RoundAbandoned, ServedOutput, ServedStatus, Withdrawal
from schemas.drafts import Draft
from schemas.ids import sha256_text
from schemas.message import Message
from schemas.telemetry import AttemptRecord, BomExcerpt
from schemas.verdict_space import Flag
from schemas.verdicts import AttemptOutcome

Place = tuple[int, int]
"""Partition and offset of a draft."""

RoundKey = tuple[str, str]
"""Item and round."""


class Text(NamedTuple):
    """A draft as it was published: who it is of, and the hashes of its text and of all that is judged."""

    item_id: str
    text_sha256: str
    judged_sha256: str


class Attempt(NamedTuple):
    """The first record of an attempt. ``place``: of its draft, None where the record names another topic."""

    event_id: str
    place: Place | None
    item_id: str
    round_id: str
    attempt: int
    outcome: AttemptOutcome
    text_sha256: str
    judged_sha256: str
    bom_version: str
    enforced: bool
    judged_at: datetime
    said: bytes
    remembered: bool  # False: it was judged without the cache, and a repetition may differ (docs/adr/0007)


class Decided(NamedTuple):
    """One decision of a round."""

    event_id: str
    decision: Decision
    attempt: int
    judged_sha256: str
    bom_version: str
    shows: bool  # a text was released: the draft's or the fallback
    decided_at: datetime


class Shown(NamedTuple):
    """The newest record of an item on the served topic. ``whole``: its text has the hash that it names."""

    item_id: str
    status: ServedStatus
    round_id: str
    attempt: int
    text_sha256: str
    judged_sha256: str
    bom_version: str
    enforced: bool
    served_at: datetime
    whole: bool


class Ledger:
    """Some hundred bytes for each draft, attempt and item; no text is kept."""

    def __init__(self, drafts_topic: str) -> None:
        """``drafts_topic`` is the full name that attempts name in their ``draft_uri``."""
        self._uri = f"kafka://{drafts_topic}/"
        self._drafts_topic = drafts_topic
        self.drafts: dict[Place, Text | None] = {}  # None: it could not be read
        self.published_ms: dict[Place, int] = {}
        self.judged: set[Place] = set()
        self.aside: set[Place] = set()
        self.attempts: dict[str, Attempt] = {}
        self.rounds: defaultdict[RoundKey, list[Attempt]] = defaultdict(list)
        self.repeated = 0
        self.unlike: dict[str, Attempt] = {}
        self.decisions: defaultdict[RoundKey, dict[str, Decided]] = defaultdict(dict)
        self.abandoned: set[RoundKey] = set()
        self.shown: dict[str, Shown | Withdrawal] = {}
        self.excerpts: dict[str, BomExcerpt] = {}
        self.two_excerpts: set[str] = set()
        self.labels: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.unreadable: Counter[str] = Counter()

    def draft(self, place: Place, draft: Draft | None, *, published_ms: int) -> None:
        """A record of the drafts topic; None where it cannot be read."""
        known = None if draft is None else Text(draft.item_id, draft.text_sha256, draft.judged_sha256)
        self.drafts[place], self.published_ms[place] = known, published_ms

    def dead_letter(self, letter: DeadLetter) -> None:
        if letter.topic == self._drafts_topic:
            self.aside.add((letter.partition, letter.offset))

    def add(self, message: Message) -> None:
        """A message of telemetry or of the served topic, in the order of its partition."""
        match message:
            case AttemptRecord():
                self._attempt(message)
            case ItemDecision():
                self._decision(message)
            case RoundAbandoned():
                self.abandoned.add((message.item_id, message.round_id))
            case Withdrawal():
                self.shown[message.item_id] = message
            case ServedOutput():
                self.shown[message.item_id] = _shown(message)
            case _:
                raise TypeError(f"nothing is proved of a {type(message).__name__}")

    def taken_away(self, item_id: str) -> None:
        """An empty record on the served topic: nothing is shown of the item any more."""
        self.shown.pop(item_id, None)

    def _attempt(self, record: AttemptRecord) -> None:
        attempt = _attempt(record, self._place(record.draft_uri))
        if attempt.place is not None:
            self.judged.add(attempt.place)
        first = self.attempts.setdefault(attempt.event_id, attempt)
        if first is not attempt:
            self.repeated += 1
            if first.said != attempt.said and first.remembered and attempt.remembered:
                self.unlike.setdefault(attempt.event_id, attempt)
            return
        self.rounds[attempt.item_id, attempt.round_id].append(attempt)
        self.labels[attempt.bom_version].update([str(v.label) for v in record.verdicts])
        if self.excerpts.setdefault(attempt.bom_version, record.bom) != record.bom:
            self.two_excerpts.add(attempt.bom_version)

    def _decision(self, said: ItemDecision) -> None:
        decided = Decided(
            said.event_id, said.decision, said.attempt, said.judged_sha256, said.bom_version,
            said.released in (ServedStatus.SERVED, ServedStatus.FALLBACK), said.decided_at,
        )  # fmt: skip
        self.decisions[said.item_id, said.round_id].setdefault(said.event_id, decided)

    def _place(self, uri: str) -> Place | None:
        partition, _, offset = uri.removeprefix(self._uri).partition("/")
        ours = uri.startswith(self._uri) and partition.isdecimal() and offset.isdecimal()
        return (int(partition), int(offset)) if ours else None


def _attempt(record: AttemptRecord, place: Place | None) -> Attempt:
    return Attempt(
        event_id=record.event_id, place=place, item_id=record.item_id, round_id=record.round_id,
        attempt=record.attempt, outcome=record.attempt_outcome, text_sha256=record.draft_sha256,
        judged_sha256=record.judged_sha256, bom_version=record.bom_version, enforced=record.enforced,
        judged_at=record.judged_at, said=_said(record),
        remembered=not any(Flag.CACHE_DOWN in v.flags for v in record.verdicts),
    )  # fmt: skip


def _said(record: AttemptRecord) -> bytes:
    """What must not change when a draft is judged again: the outcome, and each criterion's label and clause."""
    said = [record.attempt_outcome, [[v.criterion_id, v.label, v.guideline_clause] for v in record.verdicts]]
    return sha256(orjson.dumps(said)).digest()[:16]


def _shown(served: ServedOutput) -> Shown:
    return Shown(
        item_id=served.item_id, status=served.status, round_id=served.round_id, attempt=served.attempt,
        text_sha256=served.text_sha256, judged_sha256=served.judged_sha256, bom_version=served.bom_version,
        enforced=served.enforced, served_at=served.served_at, whole=sha256_text(served.text) == served.text_sha256,
    )  # fmt: skip
