"""What the judges said of one draft: one verdict a criterion, and the gate's outcome over all of them."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from schemas.ids import event_id
from schemas.message import Emitted, EventId, Name, Part, Sha256, UtcTime
from schemas.verdict_space import Cause, Choice, Flag, Label, Menu

MAX_REASON_CHARS = 600
"""S2 8.1: the longest reason a judge may give."""

MAX_VOTES = 256
"""Enough for a panel of panels; the composition that would need more is refused when the BOM is loaded."""

MAX_SPANS = 32
MAX_SPAN_CHARS = 2_000


class Usage(Part):
    """What one verdict took. ``None`` is unknown and never 0; a rule and a cached verdict cost exactly 0."""

    calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    latency_ms: float = 0.0


class Served(Part):
    """What the provider says it ran: kept on every verdict of a model, above all on abstains."""

    model: str | None = None
    fingerprint: str | None = None
    finish_reason: str | None = None
    content_chars: int | None = None
    label_probability: float | None = None  # of the label's tokens, where they were asked for and could be found
    label_probability_absent: str | None = None  # why there is none, though it was asked for


class Vote(Part):
    """What one of several judges said. ``name`` is its place in the composition, with a slash for each level below.

    ``judge`` is the pinned model, or the name of a composition whose own votes follow.
    """

    name: str
    judge: str
    label: Label
    cause: Cause | None = None
    detail: str | None = None
    score: int | None = None
    preference: Choice | None = None
    cached: bool = False
    usage: Usage = Usage()
    served: Served | None = None


class CriterionVerdict(Part):
    """One judge's verdict on one criterion.

    A fail carries a reason, a clause and the evidence spans that were found in the draft; spans that were not found are
    dropped and flagged. A non-decision carries its cause. ``score`` (ordinal) and ``preference`` (pairwise) are what a
    decision was made from. Where several judges answered as one, ``judge`` is the composition's name, ``votes`` says
    who said what, and ``usage`` is the sum.
    """

    criterion_id: Name
    label: Label
    cause: Cause | None = None
    detail: str | None = None  # the exact defect of a reply, a rule's finding; never draft text
    reason: Annotated[str, Field(max_length=MAX_REASON_CHARS)] | None = None
    evidence_spans: Annotated[tuple[str, ...], Field(max_length=MAX_SPANS)] = ()
    guideline_clause: str | None = None
    judge: str
    provisional: bool = True
    cached: bool = False
    flags: tuple[Flag, ...] = ()
    usage: Usage = Usage()
    served: Served | None = None
    score: int | None = None
    preference: Choice | None = None
    votes: Annotated[tuple[Vote, ...], Field(max_length=MAX_VOTES)] = ()

    @model_validator(mode="after")
    def _cause_beside_every_non_decision_and_no_measure(self) -> Self:
        decided = self.label.decided
        if not decided and (self.score is not None or self.preference is not None):
            raise ValueError(f"label {self.label} with a score or a preference: a non-decision measures nothing")
        if decided == (self.cause is not None):
            raise ValueError(f"label {self.label} with cause {self.cause}: a cause belongs to non-decisions, always")
        return self


class AttemptOutcome(Menu):
    """The gate's word on one attempt. S2 8.4 calls the first three pass, fail_revise and fail_drop."""

    SERVE = "serve"
    REVISE = "revise"
    DROP = "drop"
    UNDECIDED = "undecided"


def draft_verdict_id(draft_event_id: str, judged_sha256: str, bom_version: str) -> str:
    """The event id of the verdict on a draft: the same for the same draft under the same BOM."""
    return event_id("draft_verdict", draft_event_id, judged_sha256, bom_version)


class DraftVerdict(Emitted):
    """All criteria of one attempt and the outcome. The stateless reflector works from this alone."""

    ce_type: ClassVar[str] = "assay.draft_verdict.v1"

    type: Literal["draft_verdict"] = "draft_verdict"
    attempt: int
    round_id: EventId
    draft_event_id: EventId
    draft_uri: str
    text_sha256: Sha256
    judged_sha256: Sha256
    bom_version: str
    outcome: AttemptOutcome
    enforced: bool
    retry_budget: int
    verdicts: tuple[CriterionVerdict, ...]
    generator_model: str | None = None
    slices: tuple[str, ...] = ()
    judged_at: UtcTime
