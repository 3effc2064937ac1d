"""What goes back to the generator: criterion, sanitised spans, clause (S2 7.6 item 3). Data, never prose."""

from __future__ import annotations

from datetime import datetime

from schemas.bom import Bom
from schemas.revisions import RevisionNote, RevisionRequest, revision_id_after
from schemas.verdict_space import Label
from schemas.verdicts import CriterionVerdict, DraftVerdict
from workers.judge import sanitise_span


def revision_request(verdict: DraftVerdict, bom: Bom, *, now: datetime) -> RevisionRequest:
    """The request for the next attempt. Its id derives from the verdict, so that a replay asks the same thing."""
    return RevisionRequest(
        event_id=revision_id_after(verdict.draft_event_id, verdict.judged_sha256, verdict.bom_version),
        item_id=verdict.item_id,
        attempt=verdict.attempt,
        next_attempt=verdict.attempt + 1,
        attempts_left=verdict.retry_budget - verdict.attempt,
        round_id=verdict.round_id,
        judged_sha256=verdict.judged_sha256,
        text_sha256=verdict.text_sha256,
        draft_uri=verdict.draft_uri,
        bom_version=verdict.bom_version,
        notes=tuple(_note(v, bom) for v in verdict.verdicts if v.label is Label.FAIL),
        generator_model=verdict.generator_model,
        slices=verdict.slices,
        requested_at=now,
    )


def _note(verdict: CriterionVerdict, bom: Bom) -> RevisionNote:
    """A clause that the guidelines do not define is not passed on: it is the judge's prose under another name."""
    clause = verdict.guideline_clause if verdict.guideline_clause in bom.clauses else None
    spans = (sanitise_span(span) for span in verdict.evidence_spans)
    return RevisionNote(
        criterion_id=verdict.criterion_id,
        guideline_clause=clause,
        evidence_spans=tuple(span for span in spans if span),
        reason=sanitise_span(verdict.reason) if bom.charter.reasons_to_generator and verdict.reason else None,
    )
