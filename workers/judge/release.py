"""From an outcome to what downstream may show, and to the item's one decision. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from schemas.bom import Bom, OnDrop, OnJudgeUnavailable
from schemas.decisions import Decision, HumanQueueItem, ItemDecision, ServedOutput, ServedStatus
from schemas.drafts import Draft
from schemas.ids import event_id, sha256_text
from schemas.message import Message
from schemas.ours import unchecked
from schemas.verdict_space import Flag
from schemas.verdicts import AttemptOutcome, DraftVerdict
from workers.judge.fallback import fill

_served_output, _item_decision = unchecked(ServedOutput), unchecked(ItemDecision)
_human_queue_item = unchecked(HumanQueueItem)

Released = ServedStatus | Literal["human_queue", "last_approved", "nothing"]


@dataclass(frozen=True, slots=True)
class Release:
    """The messages that show or take away, how the item is shown now, and what went wrong on the way."""

    messages: tuple[Message, ...] = ()
    released: Released = "nothing"
    flags: tuple[Flag, ...] = ()


def release(draft: Draft, verdict: DraftVerdict, bom: Bom, *, now: datetime) -> Release:
    """What is shown after this attempt. In shadow mode the first draft is served untouched, whatever the outcome."""
    if not verdict.enforced:
        first = (_served(draft, verdict, None, now),) if draft.attempt == 0 else ()
        return Release(first, ServedStatus.SERVED)
    match verdict.outcome:
        case AttemptOutcome.SERVE:
            return Release((_served(draft, verdict, decision_of(verdict), now),), ServedStatus.SERVED)
        case AttemptOutcome.DROP:
            return _dropped(draft, verdict, bom, now)
        case AttemptOutcome.UNDECIDED:
            keeps = bom.charter.on_judge_unavailable is OnJudgeUnavailable.SERVE_LAST_APPROVED
            return Release(released="last_approved" if keeps else "nothing")
        case AttemptOutcome.REVISE:
            return Release()


def _dropped(draft: Draft, verdict: DraftVerdict, bom: Bom, now: datetime) -> Release:
    match bom.charter.on_drop:
        case OnDrop.NONE:
            return Release()
        case OnDrop.LAST_APPROVED:
            return Release(released="last_approved")
        case OnDrop.HUMAN_QUEUE:
            return Release((_queued(draft, verdict, now),), "human_queue")
        case OnDrop.FALLBACK_TEMPLATE:
            text = fill(bom.fallback or "", draft)
            if not text:
                return Release(flags=(Flag.FALLBACK_UNAVAILABLE,))
            return Release((_fallback(text, verdict, now),), ServedStatus.FALLBACK)


def decision_of(verdict: DraftVerdict) -> Decision | None:
    """The item's final decision after this attempt: a stratum, undecided, or None while the round goes on."""
    match verdict.outcome:
        case AttemptOutcome.SERVE:
            return Decision.SERVED_FIRST_PASS if verdict.attempt == 0 else Decision.SERVED_AFTER_REVISION
        case AttemptOutcome.DROP:
            return Decision.DROPPED
        case AttemptOutcome.UNDECIDED:
            return Decision.UNDECIDED
        case AttemptOutcome.REVISE:
            return None


def item_decision(verdict: DraftVerdict, released: Released, *, now: datetime) -> ItemDecision | None:
    """The record of a round's end; None while the round goes on."""
    decision = decision_of(verdict)
    if decision is None:
        return None
    return _item_decision(
        event_id=_id("item_decision", verdict),
        item_id=verdict.item_id,
        round_id=verdict.round_id,
        decision=decision,
        attempt=verdict.attempt,
        text_sha256=verdict.text_sha256,
        judged_sha256=verdict.judged_sha256,
        draft_uri=verdict.draft_uri,
        bom_version=verdict.bom_version,
        enforced=verdict.enforced,
        released=released,
        causes={v.criterion_id: v.cause for v in verdict.verdicts if v.cause is not None},
        generator_model=verdict.generator_model,
        slices=verdict.slices,
        decided_at=now,
    )


def _served(draft: Draft, verdict: DraftVerdict, decision: Decision | None, now: datetime) -> ServedOutput:
    return _served_output(
        event_id=_id("served_output", verdict),
        item_id=draft.item_id,
        status=ServedStatus.SERVED,
        text=draft.text,
        decision=decision,
        attempt=draft.attempt,
        round_id=verdict.round_id,
        text_sha256=verdict.text_sha256,
        judged_sha256=verdict.judged_sha256,
        bom_version=verdict.bom_version,
        enforced=verdict.enforced,
        served_at=now,
    )


def _fallback(text: str, verdict: DraftVerdict, now: datetime) -> ServedOutput:
    return _served_output(
        event_id=_id("served_output", verdict),
        item_id=verdict.item_id,
        status=ServedStatus.FALLBACK,
        text=text,
        decision=Decision.DROPPED,
        attempt=verdict.attempt,
        round_id=verdict.round_id,
        text_sha256=sha256_text(text),
        judged_sha256=verdict.judged_sha256,
        bom_version=verdict.bom_version,
        enforced=True,
        served_at=now,
    )


def _queued(draft: Draft, verdict: DraftVerdict, now: datetime) -> HumanQueueItem:
    return _human_queue_item(
        event_id=_id("human_queue_item", verdict),
        item_id=draft.item_id,
        round_id=verdict.round_id,
        attempt=draft.attempt,
        text=draft.text,
        rival=draft.rival,
        context=draft.context,
        verdicts=verdict.verdicts,
        draft_uri=verdict.draft_uri,
        bom_version=verdict.bom_version,
        generator_model=draft.generator_model,
        slices=draft.slices,
        queued_at=now,
    )


def _id(kind: str, verdict: DraftVerdict) -> str:
    return event_id(kind, verdict.draft_event_id, verdict.judged_sha256, verdict.bom_version)
