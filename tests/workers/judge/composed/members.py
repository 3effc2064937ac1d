"""Judges that say one thing, to be composed."""

from __future__ import annotations

from typing import Any

from schemas.drafts import Draft
from schemas.verdict_space import Cause, Choice, Label
from schemas.verdicts import CriterionVerdict, Usage

P, F, ABSTAIN, NOT_APPLICABLE = Label.PASS, Label.FAIL, Label.ABSTAIN, Label.NOT_APPLICABLE
PAID = Usage(calls=1, input_tokens=100, output_tokens=10, cost_usd=0.01, latency_ms=100.0)


def said(label: Label, *, judge: str = "model", cause: Cause | None = None, **more: Any) -> CriterionVerdict:
    fails = {"reason": f"{judge} says so", "evidence_spans": ("6.7 inch",), "guideline_clause": "G-1"}
    return CriterionVerdict(
        criterion_id="grounding",
        label=label,
        cause=None if label.decided else cause or Cause.TIMEOUT,
        judge=judge,
        **{**(fails if label is F else {}), "usage": PAID, **more},
    )


class Says:
    """Says one thing and counts how often it was asked."""

    criterion_id = "grounding"

    def __init__(self, label: Label, **more: Any) -> None:
        self.verdict, self.asked = said(label, **more), 0

    async def judge(self, draft: Draft, *, deadline: float) -> CriterionVerdict:
        self.asked += 1
        return self.verdict


def prefers(choice: Choice, **more: Any) -> Says:
    return Says(F if choice is Choice.B else P, preference=choice, **more)
