"""The judge worker: one draft in, messages out. It knows no Kafka."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

from schemas.bom import Bom
from schemas.decisions import ServedOutput, ServedStatus
from schemas.drafts import Draft
from schemas.errors import BadMessage, BadMessageKind
from schemas.message import Message
from schemas.ours import unchecked
from schemas.verdict_space import Flag
from schemas.verdicts import AttemptOutcome, CriterionVerdict, DraftVerdict, draft_verdict_id
from workers.judge.gate import decide, enforced_criteria, gated_labels, is_enforced
from workers.judge.hedging import hedging_words
from workers.judge.instrument import Instrument
from workers.judge.memory import VerdictMemory
from workers.judge.release import Release, item_decision, release
from workers.judge.telemetry import attempt_record, excerpt_of, time_flags
from workers.judge.wording import Wording
from workers.runtime.origin import Origin

_made_verdict = unchecked(DraftVerdict)


class JudgeWorker:
    """Judges every must-have criterion of a draft, decides at the gate, and says what may be shown."""

    def __init__(
        self,
        bom: Bom,
        instrument: Instrument,
        *,
        now: Callable[[], datetime],
        audit: Instrument | None = None,
        memory: VerdictMemory | None = None,
        hedges: frozenset[str] = frozenset(),
    ) -> None:
        """``memory``: what was said under an event id; ``hedges``: words that are counted in served texts. Without the
        one nothing is remembered, without the others nothing is counted."""
        self._bom, self._instrument, self._now, self._audit, self._memory = bom, instrument, now, audit, memory
        self._excerpt = excerpt_of(bom)
        self._enforced = enforced_criteria(bom)
        self._wording, self._hedges = Wording.of(bom), hedges

    async def __call__(self, draft: Draft, origin: Origin) -> list[Message]:
        """Raises BadMessage for an attempt that cannot be: beyond the retry budget, or answering no request."""
        self._check_attempt(draft)
        started = time.perf_counter()
        id_ = draft_verdict_id(origin.event_id, draft.judged_sha256, self._bom.version)
        verdicts = await self._judged(draft, id_)
        now = self._now()
        verdict = self._draft_verdict(draft, origin, id_, verdicts, now)
        shown = release(draft, verdict, self._bom, now=now)
        flags = (*origin.flags, *time_flags(draft.created_at, now=now), *shown.flags, *self._leaks(draft, verdict))
        latency_ms = (time.perf_counter() - started) * 1000
        audit = await self._audited(draft, shown)
        hedging = self._hedging(draft, verdict)
        record = attempt_record(
            draft, verdict, self._excerpt, flags=flags, latency_ms=latency_ms, audit=audit, hedging=hedging
        )
        decision = item_decision(verdict, shown.released, now=now)
        return [verdict, record, *shown.messages, *([decision] if decision else [])]

    async def _judged(self, draft: Draft, verdict_id: str) -> tuple[CriterionVerdict, ...]:
        """What the judges say; of a draft that was judged before under the same event id, what they said."""
        if self._memory is None:
            return await self._instrument.judge(draft)
        return await self._memory.same(verdict_id, lambda: self._instrument.judge(draft))

    def _check_attempt(self, draft: Draft) -> None:
        budget = self._bom.charter.retry_budget
        if draft.attempt > budget:
            detail = f"{draft.attempt} is beyond the retry budget of {budget}; start a new round with attempt 0"
            raise BadMessage(BadMessageKind.BAD_ATTEMPT, detail, field="drafts.attempt")
        if draft.attempt > 0 and draft.revises is None:
            detail = f"attempt {draft.attempt} answers no request; echo revision_id, round_id and judged_sha256"
            raise BadMessage(BadMessageKind.BAD_ATTEMPT, detail, field="drafts.revises")

    def _draft_verdict(
        self, draft: Draft, origin: Origin, id_: str, verdicts: tuple[CriterionVerdict, ...], now: datetime
    ) -> DraftVerdict:
        charter, version = self._bom.charter, self._bom.version
        labels = gated_labels(verdicts, charter.criteria.must_have, enforced=self._enforced)
        return _made_verdict(
            event_id=id_,
            item_id=draft.item_id,
            attempt=draft.attempt,
            round_id=draft.revises.round_id if draft.attempt and draft.revises else origin.event_id,
            draft_event_id=origin.event_id,
            draft_uri=origin.uri,
            text_sha256=draft.text_sha256,
            judged_sha256=draft.judged_sha256,
            bom_version=version,
            outcome=decide(labels, draft.attempt, retry_budget=charter.retry_budget),
            enforced=is_enforced(draft.item_id, version, share=self._bom.decision.enforced_share),
            retry_budget=charter.retry_budget,
            verdicts=verdicts,
            generator_model=draft.generator_model,
            slices=draft.slices,
            judged_at=now,
        )

    async def _audited(self, draft: Draft, shown: Release) -> tuple[CriterionVerdict, ...]:
        """What judges of another family say of a text that is about to be shown. It changes nothing (S2 6.3)."""
        served = any(isinstance(m, ServedOutput) and m.status is ServedStatus.SERVED for m in shown.messages)
        return await self._audit.judge(draft) if self._audit is not None and served else ()

    def _hedging(self, draft: Draft, verdict: DraftVerdict) -> tuple[int, int] | None:
        """Counts alone go into telemetry, never words of the draft (S2 6.6)."""
        if not self._hedges or verdict.outcome is not AttemptOutcome.SERVE:
            return None
        return hedging_words(draft.text, self._hedges)

    def _leaks(self, draft: Draft, verdict: DraftVerdict) -> tuple[Flag, ...]:
        """Whether a text that is about to be served speaks the judge's language (S2 7.6 item 3)."""
        if verdict.outcome is AttemptOutcome.SERVE and self._wording.leaks_into(draft.text):
            return (Flag.WORDING_LEAKED,)
        return ()
