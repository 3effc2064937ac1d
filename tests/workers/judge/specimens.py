"""A small BOM and drafts to judge with it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from schemas.bom import Bom, Charter, DecisionSettings, OnDrop
from schemas.drafts import Draft
from schemas.verdict_space import Cause, Label
from schemas.verdicts import CriterionVerdict, Usage

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)

CHARTER = Charter.model_validate(
    {
        "name": "test",
        "owner": "nobody",
        "roles": ["gate", "critic"],
        "criteria": {"must_have": [{"id": "a", "judge": "m"}, {"id": "b", "judge": "m"}]},
        "max_served_defect_rate": 0.02,
        "relative_costs": {"drop_good": 1, "serve_defect": 50},
        "retry_budget": 2,
        "on_drop": "none",
        "change_control": {"rubric_update_approver": "owner"},
    }
)

BOM = Bom(
    version="bom-test",
    digests={"template.md": "t" * 64},
    charter=CHARTER,
    clauses={"G-1.1": "Numbers match\nEvery number must match the specification sheet of the product."},
    guideline_version="2026.11.1",
    template="[system]\n{rubric}\n[user]\n{instruction}{constraints}{items}{text}\n",
    rubrics={},
    bindings={},
    decision=DecisionSettings(),
    fallback="{name}: see the specifications.",
    files={},
)


def bom_with(*, on_drop: OnDrop = OnDrop.NONE, share: float = 1.0, **charter: Any) -> Bom:
    return replace(
        BOM,
        charter=CHARTER.model_copy(update={"on_drop": on_drop, **charter}),
        decision=DecisionSettings(enforced_share=share),
    )


def draft(attempt: int = 0, **changes: Any) -> Draft:
    quoted = {"revision_id": "rev-1", "round_id": "round-1", "judged_sha256": "0" * 64}
    base: dict[str, Any] = {
        "item_id": "sku-1",
        "attempt": attempt,
        "text": "A red kettle.",
        "context": {"instruction": "Describe.", "items": [{"role": "target", "metadata": {"name": "Kettle"}}]},
        "revises": quoted if attempt else None,
    }
    return Draft.model_validate({**base, **changes})


def said(criterion: str, label: Label, **more: Any) -> CriterionVerdict:
    cause = None if label.decided else Cause.TIMEOUT
    more.setdefault("usage", Usage(calls=1, cost_usd=0.5, input_tokens=10, output_tokens=2))
    return CriterionVerdict(criterion_id=criterion, label=label, cause=cause, judge="test", **more)
