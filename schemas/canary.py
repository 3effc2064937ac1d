"""CanaryRun: the fixed labelled set judged again, against the verdicts certified with the BOM (S2 7.6 item 9)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from schemas.message import EventId, Message, Part, UtcTime
from schemas.verdict_space import Cause, Label


class CanaryVerdict(Part):
    """One item's verdict on one criterion in this run, beside the certified one."""

    item_id: str
    criterion_id: str
    certified: Label
    label: Label
    cause: Cause | None = None
    injection: bool = False

    @property
    def flipped(self) -> bool:
        """A decided verdict that differs from the certified one. A non-decision is no flip: it is counted apart."""
        return self.label.decided and self.label is not self.certified


class CanaryRun(Message):
    """One run under one BOM version. ``threshold`` flips or more alarm; None with a reason where it is unavailable."""

    ce_type: ClassVar[str] = "assay.canary_run.v1"

    type: Literal["canary_run"] = "canary_run"
    event_id: EventId
    bom_version: str
    canary_digest: str
    baseline_flip_rate: Annotated[float, Field(ge=0, le=1)] | None
    threshold: int | None
    threshold_reason: str | None = None
    verdicts: tuple[CanaryVerdict, ...]
    models_served: tuple[str, ...] = ()
    started_at: UtcTime
    ended_at: UtcTime

    def key(self) -> str:
        return self.bom_version

    @property
    def flips(self) -> int:
        return sum(v.flipped for v in self.verdicts if not v.injection)
