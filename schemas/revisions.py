"""RevisionRequest: why a draft failed, as data for the producer's generator. Never prose to paste into a prompt."""

from __future__ import annotations

from typing import ClassVar, Literal

from schemas.ids import event_id
from schemas.message import Emitted, EventId, Part, Sha256, UtcTime
from schemas.verdicts import draft_verdict_id


class RevisionNote(Part):
    """One violated criterion: the clause, and the sanitised spans of the draft that violate it (may be none)."""

    criterion_id: str
    guideline_clause: str | None
    evidence_spans: tuple[str, ...] = ()
    reason: str | None = None  # the judge's own words, only where the charter says so


class RevisionRequest(Emitted):
    """Asks for attempt ``attempt + 1``. Its event id is the ``revision_id`` that the next draft quotes."""

    ce_type: ClassVar[str] = "assay.revision_request.v1"

    type: Literal["revision_request"] = "revision_request"
    attempt: int
    next_attempt: int
    attempts_left: int
    round_id: EventId
    judged_sha256: Sha256
    text_sha256: Sha256
    draft_uri: str
    bom_version: str
    notes: tuple[RevisionNote, ...]
    generator_model: str | None = None
    slices: tuple[str, ...] = ()
    requested_at: UtcTime

    @property
    def revision_id(self) -> str:
        return self.event_id


def revision_id_after(draft_event_id: str, judged_sha256: str, bom_version: str) -> str:
    """The id of the request that a failed draft leads to: known to whoever knows the draft and the BOM."""
    verdict = draft_verdict_id(draft_event_id, judged_sha256, bom_version)
    return event_id("revision_request", verdict, judged_sha256, bom_version)
