"""What became of an item: its one decision a round, and what downstream may show."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from schemas.drafts import Context
from schemas.message import Emitted, EventId, Sha256, UtcTime
from schemas.verdict_space import Cause, Menu
from schemas.verdicts import CriterionVerdict


class Decision(Menu):
    """The three strata of S2 5.1, and ``undecided``: outside the strata, inside coverage."""

    SERVED_FIRST_PASS = "served_first_pass"  # noqa: S105 - a stratum, not a password
    SERVED_AFTER_REVISION = "served_after_revision"
    DROPPED = "dropped"
    UNDECIDED = "undecided"


class ServedStatus(Menu):
    SERVED = "served"
    FALLBACK = "fallback"
    WITHDRAWN = "withdrawn"


class ItemDecision(Emitted):
    """The final word on one round of one item; exactly one for every round that was answered to its end.

    With ``enforced`` false it holds the stratum that would have been (shadow mode).
    """

    ce_type: ClassVar[str] = "assay.item_decision.v1"

    type: Literal["item_decision"] = "item_decision"
    round_id: EventId
    decision: Decision
    attempt: int
    text_sha256: Sha256
    judged_sha256: Sha256
    draft_uri: str
    bom_version: str
    enforced: bool
    released: ServedStatus | Literal["human_queue", "last_approved", "nothing"]
    causes: dict[str, Cause] = Field(default_factory=dict)  # criterion -> why it was not decided
    generator_model: str | None = None
    slices: tuple[str, ...] = ()
    decided_at: UtcTime


class RoundAbandoned(Emitted):
    """Nobody answered the revision request of ``attempt`` in time: the round has no decision, and nothing is served.

    An answer that comes after all is judged, and its round ends in an ItemDecision as any other.
    """

    ce_type: ClassVar[str] = "assay.round_abandoned.v1"

    type: Literal["round_abandoned"] = "round_abandoned"
    round_id: EventId
    attempt: int  # the last one that was judged
    bom_version: str
    judged_at: UtcTime
    abandoned_at: UtcTime


class ServedOutput(Emitted):
    """What downstream may show for an item: the judged text, or the charter's fallback for it.

    ``decision`` is null in shadow mode (``enforced`` false): the first draft is served untouched, unjudged.
    """

    ce_type: ClassVar[str] = "assay.served_output.v1"

    type: Literal["served_output"] = "served_output"
    status: ServedStatus
    text: str
    decision: Decision | None
    attempt: int
    round_id: EventId
    text_sha256: Sha256
    judged_sha256: Sha256
    bom_version: str
    enforced: bool
    served_at: UtcTime


class Withdrawal(Emitted):
    """Takes an item's served text away. Written on an operator's command; ``text`` is null for ever after."""

    ce_type: ClassVar[str] = "assay.withdrawal.v1"

    type: Literal["withdrawal"] = "withdrawal"
    status: Literal[ServedStatus.WITHDRAWN] = ServedStatus.WITHDRAWN
    text: None = None
    operator: str
    reason: str
    withdrawn_at: UtcTime


class HumanQueueItem(Emitted):
    """A dropped draft for a person to look at (``on_drop: human_queue``)."""

    ce_type: ClassVar[str] = "assay.human_queue_item.v1"

    type: Literal["human_queue_item"] = "human_queue_item"
    round_id: EventId
    attempt: int
    text: str
    rival: str | None = None  # what pairwise criteria compared it with
    context: Context
    verdicts: tuple[CriterionVerdict, ...]
    draft_uri: str
    bom_version: str
    generator_model: str | None = None
    slices: tuple[str, ...] = ()
    queued_at: UtcTime
