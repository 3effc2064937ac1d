"""AttemptRecord: one line of evidence an attempt (S2 8.4). Generator health can be computed from these alone."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from schemas.message import Emitted, EventId, Part, Sha256, UtcTime
from schemas.verdict_space import Flag
from schemas.verdicts import AttemptOutcome, CriterionVerdict

Count = Annotated[int, Field(ge=0)]


class BomExcerpt(Part):
    """The parts of the BOM that shape a verdict directly; the whole is found by the version."""

    name: str
    guideline: str
    judge_template: str
    rubrics: dict[str, str]
    judge_models: dict[str, str]
    retry_budget: int


class AttemptRecord(Emitted):
    """What happened to one draft. ``cost_usd`` null = unknown, never 0; a cached verdict costs 0.

    ``audit`` is what the audit judges said of a draft that was served: after the gate, without a say in it, and apart
    from ``verdicts`` in every sum. ``hedging`` is (hedging words, words) of a served text, where they are counted.
    """

    ce_type: ClassVar[str] = "assay.attempt_record.v1"

    type: Literal["attempt_record"] = "attempt_record"
    attempt: int
    round_id: EventId
    revision_id: EventId | None
    draft_event_id: EventId
    draft_uri: str
    draft_sha256: Sha256
    judged_sha256: Sha256
    draft_chars: int
    attempt_outcome: AttemptOutcome
    bom_version: str
    bom: BomExcerpt
    enforced: bool
    generator_model: str | None = None
    slices: tuple[str, ...] = ()
    verdicts: tuple[CriterionVerdict, ...]
    audit: tuple[CriterionVerdict, ...] = ()
    hedging: tuple[Count, Count] | None = None
    flags: tuple[Flag, ...] = ()
    latency_ms: float
    cost_usd: float | None
    input_tokens: int | None
    output_tokens: int | None
    model_calls: int
    cached_verdicts: int
    created_at: UtcTime | None
    judged_at: UtcTime
