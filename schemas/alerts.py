"""Alerts: what on-call is told, with the diagnosis of S2's table 7.6 and where to read what to do."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import Field

from schemas.message import EventId, Message, UtcTime


class Severity(StrEnum):
    PAGE = "page"
    TICKET = "ticket"
    INFO = "info"


class AlertState(StrEnum):
    FIRING = "firing"
    RESOLVED = "resolved"
    NO_DATA = "no_data"  # the check could not be computed: its own state, never silence


class AlertKind(StrEnum):
    """Each kind has a section in docs/runbook.md under its own name, and a specimen that raises it."""

    GENERATOR_REGRESSION = "generator_regression"
    STRICTER_JUDGE = "stricter_judge"
    LENIENT_JUDGE = "lenient_judge"
    CANCELLING_CHANGES = "cancelling_changes"
    UNFIXABLE_INPUTS = "unfixable_inputs"
    VENDOR_CHANGE = "vendor_change"
    AMPLIFIED_MISSES = "amplified_misses"
    BELOW_BAND = "below_band"
    SERVED_DEFECTS_ABOVE_CAP = "served_defects_above_cap"
    PASS_RATE_JUMP = "pass_rate_jump"  # noqa: S105 - may be an injection
    COVERAGE_LOW = "coverage_low"
    RATER_DRIFT = "rater_drift"
    MODEL_MISMATCH = "model_mismatch"
    CONFLICTING_DECISION = "conflicting_decision"
    RESTARTS = "restarts"
    OPEN_ROUNDS = "open_rounds"
    CACHE_DOWN = "cache_down"
    OVER_BUDGET = "over_budget"
    DEAD_LETTERS = "dead_letters"
    WORDING_LEAKED = "wording_leaked"


class Alert(Message):
    """One alert about one scope under one BOM version. Key: all three, so that a newer state replaces an older one.

    ``bom_version`` is empty where the version does not matter. ``times``: how often it was told since it began firing,
    0 when it never fired.
    """

    ce_type: ClassVar[str] = "assay.alert.v1"

    type: Literal["alert"] = "alert"
    event_id: EventId
    kind: AlertKind
    state: AlertState
    severity: Severity
    scope: dict[str, str] = Field(default_factory=dict)
    summary: str  # one line a tired person understands
    diagnosis: str  # what it most likely means
    action: str  # what to do first
    runbook: str  # docs/runbook.md#kind
    evidence: dict[str, float | str | None] = Field(default_factory=dict)
    window: str
    bom_version: str
    times: int = 1
    since: UtcTime
    at: UtcTime

    def key(self) -> str:
        return alert_key(self.kind, self.bom_version, self.scope)


def alert_key(kind: AlertKind, bom_version: str, scope: Mapping[str, str]) -> str:
    """What an alert is about, as one string."""
    of = [bom_version] if bom_version else []
    return ":".join([str(kind), *of, *(f"{name}={value}" for name, value in sorted(scope.items()))])
