"""MetricReport: one window's figures, with what could not be computed said in words."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from schemas.message import EventId, Message, Part, UtcTime


class Health(StrEnum):
    """Generator and judge are watched apart (S2 7.6 item 5)."""

    GENERATOR = "generator"
    JUDGE = "judge"
    SERVED = "served"  # what reached readers, measured from outside (S2 6.3)
    RATERS = "raters"


class Figure(Part):
    """One number with its interval, or why there is none. ``name`` says the metric and the class; ``of`` what it is
    a share of (the denominator)."""

    health: Health
    name: str
    of: str = ""
    scope: dict[str, str] = Field(default_factory=dict)  # criterion, slice, stratum, attempt, generator, rater
    value: float | None
    lo: float | None = None
    hi: float | None = None
    n: Annotated[int, Field(ge=0)] | None = None
    reason: str | None = None  # why value is null

    @model_validator(mode="after")
    def _undefined_is_said(self) -> Self:
        if (self.value is None) != (self.reason is not None):
            raise ValueError("a figure has a value, or the reason why it has none")
        return self


class MetricReport(Message):
    """All figures of one window under one BOM version. Key: window and BOM; a higher ``revision`` replaces a lower."""

    ce_type: ClassVar[str] = "assay.metric_report.v1"

    type: Literal["metric_report"] = "metric_report"
    event_id: EventId
    window: str  # an ISO week, 2026-W48, or a day, 2026-11-30
    bom_version: str
    revision: Annotated[int, Field(ge=0)]
    final: bool
    figures: tuple[Figure, ...]
    late_dropped: int = 0
    reported_at: UtcTime

    def key(self) -> str:
        return f"{self.window}:{self.bom_version}"
