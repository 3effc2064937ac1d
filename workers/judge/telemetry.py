"""The attempt record: what happened to one draft, with all that S2 8.4 shows. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import cast

from schemas.bom import Bom
from schemas.drafts import Draft
from schemas.ids import event_id
from schemas.ours import unchecked
from schemas.telemetry import AttemptRecord, BomExcerpt
from schemas.verdict_space import Flag
from schemas.verdicts import CriterionVerdict, DraftVerdict

AHEAD = timedelta(minutes=5)
BEHIND = timedelta(days=30)

_attempt_record = unchecked(AttemptRecord)


def attempt_record(
    draft: Draft,
    verdict: DraftVerdict,
    excerpt: BomExcerpt,
    *,
    flags: Iterable[Flag],
    latency_ms: float,
    audit: tuple[CriterionVerdict, ...] = (),
    hedging: tuple[int, int] | None = None,
) -> AttemptRecord:
    """One record for one attempt. ``flags`` are those of the draft as a whole; verdicts carry their own."""
    usages = [v.usage for v in verdict.verdicts]
    paid = [usage for usage in usages if usage.calls]
    return _attempt_record(
        event_id=event_id("attempt_record", verdict.draft_event_id, verdict.judged_sha256, verdict.bom_version),
        item_id=draft.item_id,
        attempt=draft.attempt,
        round_id=verdict.round_id,
        revision_id=draft.revises.revision_id if draft.revises else None,
        draft_event_id=verdict.draft_event_id,
        draft_uri=verdict.draft_uri,
        draft_sha256=verdict.text_sha256,
        judged_sha256=verdict.judged_sha256,
        draft_chars=len(draft.text),
        attempt_outcome=verdict.outcome,
        bom_version=verdict.bom_version,
        bom=excerpt,
        enforced=verdict.enforced,
        generator_model=draft.generator_model,
        slices=draft.slices,
        verdicts=verdict.verdicts,
        audit=audit,
        hedging=hedging,
        flags=tuple(dict.fromkeys(flags)),
        latency_ms=round(latency_ms, 3),
        cost_usd=total([usage.cost_usd for usage in usages]),
        input_tokens=_tokens([usage.input_tokens for usage in paid]),
        output_tokens=_tokens([usage.output_tokens for usage in paid]),
        model_calls=sum([usage.calls for usage in paid]),
        cached_verdicts=sum([v.cached for v in verdict.verdicts]),
        created_at=draft.created_at,
        judged_at=verdict.judged_at,
    )


def total(costs: Iterable[float | None]) -> float | None:
    """The sum; None when one part is unknown: an unknown cost is not 0."""
    known = list(costs)
    return None if None in known else sum(cast("list[float]", known))


def _tokens(counts: list[int | None]) -> int | None:
    return None if None in counts else sum(cast("list[int]", counts))


def time_flags(created_at: datetime | None, *, now: datetime) -> tuple[Flag, ...]:
    """A draft dated in the future, or long ago, is judged all the same and flagged."""
    if created_at is None or now - BEHIND <= created_at <= now + AHEAD:
        return ()
    return (Flag.TIME_ANOMALY,)


def excerpt_of(bom: Bom) -> BomExcerpt:
    """The parts of a BOM that shape a verdict directly. Made once a start, not once a draft."""
    return BomExcerpt(
        name=bom.name,
        guideline=bom.guideline_version,
        judge_template=bom.digests["template.md"][:12],
        rubrics={criterion: bom.digests[f"rubrics/{criterion}.md"][:12] for criterion in sorted(bom.rubrics)},
        judge_models={name: binding.model for name, binding in sorted(bom.bindings.items())},
        retry_budget=bom.charter.retry_budget,
    )
