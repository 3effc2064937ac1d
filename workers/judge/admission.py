"""Which drafts are put before a model at all. It stands before the cache: a refused draft has no verdict to find."""

from __future__ import annotations

from typing import NamedTuple

from schemas.bom import DecisionSettings, ModelBinding
from schemas.drafts import Draft
from schemas.verdict_space import Cause, Flag, Label
from schemas.verdicts import CriterionVerdict, Usage
from workers.judge.families import related
from workers.judge.protocols import Counters, Judge, RecallingJudge
from workers.judge.rules import RuleJudge


class Refusal(NamedTuple):
    """Why a draft is not put before the model."""

    label: Label
    cause: Cause
    detail: str
    flags: tuple[Flag, ...] = ()


class AdmittingJudge:
    """Wraps any judge and refuses what no model may see.

    The generator is not part of a cached verdict's key, so the check of its family cannot lie behind the cache.
    ``admitted`` are the generator families of the charter; ``compares`` is True for a judge that needs a rival.
    """

    def __init__(
        self,
        judge: Judge,
        *,
        binding: ModelBinding,
        decision: DecisionSettings,
        admitted: tuple[str, ...],
        counters: Counters,
        compares: bool = False,
    ) -> None:
        self._judge, self._binding, self._decision, self._compares = judge, binding, decision, compares
        self._recalling = judge if isinstance(judge, RecallingJudge) else None
        self._admitted, self._counters = admitted, counters

    @property
    def criterion_id(self) -> str:
        return self._judge.criterion_id

    async def judge(self, draft: Draft, *, deadline: float) -> CriterionVerdict:
        refusal = self._refusal(draft)
        if refusal is None:
            return await self._judge.judge(draft, deadline=deadline)
        self._counters.count("model_non_decisions", criterion=self.criterion_id, cause=refusal.cause)
        return not_asked(self.criterion_id, self._binding.model, refusal)

    def entry_of(self, draft: Draft) -> str | None:
        if self._recalling is None or self._refusal(draft) is not None:
            return None
        return self._recalling.entry_of(draft)

    def recall(self, entry: bytes | None) -> CriterionVerdict | None:
        return self._recalling.recall(entry) if self._recalling is not None else None

    def _refusal(self, draft: Draft) -> Refusal | None:
        return refused(
            draft,
            decision=self._decision,
            own_family=self._binding.family,
            admitted=self._admitted,
            compares=self._compares,
        )


class AdmittingRules:
    """Wraps a criterion's rules: no judge decides without an instruction (S1), or reads more than the BOM allows."""

    def __init__(self, rules: RuleJudge, *, decision: DecisionSettings) -> None:
        self._rules, self._decision = rules, decision

    def verdict(self, draft: Draft) -> CriterionVerdict:
        if (refusal := unjudgeable(draft, self._decision)) is not None:
            return not_asked(self._rules.criterion_id, self._rules.name, refusal)
        return self._rules.verdict(draft)


def unjudgeable(draft: Draft, decision: DecisionSettings) -> Refusal | None:
    """Why no judge at all may decide a draft, or None."""
    if not draft.context.instructed:
        return Refusal(Label.ABSTAIN, Cause.NO_INSTRUCTION, "context.instruction is missing or blank")
    if len(draft.text) > decision.max_draft_chars:
        return Refusal(Label.ABSTAIN, Cause.OVERSIZE, f"text of {len(draft.text)} characters")
    return None


def refused(
    draft: Draft,
    *,
    decision: DecisionSettings,
    own_family: str,
    admitted: tuple[str, ...],
    compares: bool = False,
) -> Refusal | None:
    """Why no call is made for a draft, or None."""
    context = draft.context
    if (refusal := unjudgeable(draft, decision)) is not None:
        return refusal
    if any(item.metadata is None for item in context.items):
        return Refusal(Label.MISSING_EVIDENCE, Cause.UNREADABLE_CONTEXT, "a context item has no metadata")
    if compares and draft.rival is None:
        return Refusal(Label.MISSING_EVIDENCE, Cause.NO_RIVAL, "the criterion compares, and the draft has no rival")
    if compares and draft.rival is not None and len(draft.rival) > decision.max_draft_chars:
        return Refusal(Label.ABSTAIN, Cause.OVERSIZE, f"rival of {len(draft.rival)} characters")
    if (size := context.json_chars) > decision.max_context_chars:
        return Refusal(Label.ABSTAIN, Cause.OVERSIZE, f"context of {size} characters")
    if related(draft.generator_model, own=own_family, admitted=admitted):
        detail = "the generator is of the judge's own family or of none that the charter admits"
        return Refusal(Label.ABSTAIN, Cause.SAME_FAMILY, detail, (Flag.SAME_FAMILY,))
    return None


def not_asked(criterion_id: str, judge: str, refusal: Refusal) -> CriterionVerdict:
    """The verdict on a draft that was not put before the model: it cost exactly nothing."""
    return CriterionVerdict(
        criterion_id=criterion_id,
        label=refusal.label,
        cause=refusal.cause,
        detail=refusal.detail,
        judge=judge,
        flags=refusal.flags,
        usage=Usage(input_tokens=0, output_tokens=0, cost_usd=0.0),
    )
