"""From the records of one item to its rounds, attempt by attempt. Pure.

A fold: of records that repeat an event id the first counts, here as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from schemas.decisions import HumanQueueItem, ItemDecision, RoundAbandoned, ServedOutput, Withdrawal
from schemas.drafts import Draft
from schemas.message import Message
from schemas.revisions import RevisionRequest
from schemas.telemetry import AttemptRecord
from schemas.verdicts import DraftVerdict


class Seen(NamedTuple):
    """A message, its event id, and where its record stands."""

    message: Message
    event_id: str
    uri: str


@dataclass(slots=True)
class Attempt:
    """What is on record of one attempt. ``draft`` is None once its record has expired: its hash is in the verdict."""

    number: int
    draft: Draft | None = None
    draft_uri: str | None = None
    verdicts: dict[str, DraftVerdict] = field(default_factory=dict)  # by BOM version: a rejudge adds one
    record: AttemptRecord | None = None
    request: RevisionRequest | None = None


@dataclass(slots=True)
class Round:
    """One round: from attempt 0 to one decision, or still open."""

    round_id: str
    attempts: dict[int, Attempt] = field(default_factory=dict)
    decisions: dict[str, ItemDecision] = field(default_factory=dict)  # by event id: more than one is a conflict
    served: dict[str, ServedOutput] = field(default_factory=dict)
    queued: HumanQueueItem | None = None
    abandoned: dict[str, RoundAbandoned] = field(default_factory=dict)

    def attempt(self, number: int) -> Attempt:
        return self.attempts.setdefault(number, Attempt(number))


@dataclass(slots=True)
class Story:
    """All rounds of an item in the order in which they first appear, and what was withdrawn."""

    item_id: str
    rounds: dict[str, Round] = field(default_factory=dict)
    withdrawals: dict[str, Withdrawal] = field(default_factory=dict)

    def round(self, round_id: str) -> Round:
        return self.rounds.setdefault(round_id, Round(round_id))


def tell(item_id: str, seen: Iterable[Seen]) -> Story:
    """Put an item's records together; records of other items are passed over."""
    story = Story(item_id)
    for one in seen:
        if one.message.key() == item_id:
            _add(story, one)
    return story


def _add(story: Story, seen: Seen) -> None:
    match seen.message:
        case Draft() as draft:
            round_id = draft.revises.round_id if draft.attempt and draft.revises else seen.event_id
            attempt = story.round(round_id).attempt(draft.attempt)
            if attempt.draft is None:
                attempt.draft, attempt.draft_uri = draft, seen.uri
        case DraftVerdict() as verdict:
            attempt = story.round(verdict.round_id).attempt(verdict.attempt)
            attempt.verdicts.setdefault(verdict.bom_version, verdict)
        case AttemptRecord() as record:
            attempt = story.round(record.round_id).attempt(record.attempt)
            attempt.record = attempt.record or record
        case RevisionRequest() as request:
            attempt = story.round(request.round_id).attempt(request.attempt)
            attempt.request = attempt.request or request
        case ItemDecision() as decision:
            story.round(decision.round_id).decisions.setdefault(decision.event_id, decision)
        case RoundAbandoned() as abandoned:
            story.round(abandoned.round_id).abandoned.setdefault(abandoned.event_id, abandoned)
        case ServedOutput() as served:
            story.round(served.round_id).served.setdefault(served.event_id, served)
        case HumanQueueItem() as queued:
            round_ = story.round(queued.round_id)
            round_.queued = round_.queued or queued
        case Withdrawal() as withdrawal:
            story.withdrawals.setdefault(withdrawal.event_id, withdrawal)
        case _:
            pass
