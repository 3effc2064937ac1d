"""The gate: labels in, outcome out. Pure; a non-decision never serves."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from schemas.bom import Bom, Criterion, NotApplicable
from schemas.verdict_space import Label
from schemas.verdicts import AttemptOutcome, CriterionVerdict


def decide(labels: AbstractSet[Label], attempt: int, *, retry_budget: int) -> AttemptOutcome:
    """A fail outranks a non-decision; a non-decision, or no decision at all, never serves (S1, fail-closed).

    ``labels`` are those of the criteria that the gate enforces; ``attempt`` counts from 0; ``retry_budget`` is K, so
    that K + 1 drafts are judged at most.
    """
    if Label.FAIL in labels:
        return AttemptOutcome.REVISE if attempt < retry_budget else AttemptOutcome.DROP
    return AttemptOutcome.SERVE if labels == {Label.PASS} else AttemptOutcome.UNDECIDED


def gated_labels(
    verdicts: Iterable[CriterionVerdict], criteria: Iterable[Criterion], *, enforced: AbstractSet[str]
) -> frozenset[Label]:
    """What the gate looks at: enforced criteria, without those that do not apply and may be excluded.

    A criterion without a verdict counts as not implemented: it is never missing.
    """
    said = {verdict.criterion_id: verdict.label for verdict in verdicts}
    labels = set()
    for criterion in criteria:
        if criterion.id not in enforced:
            continue
        label = said.get(criterion.id, Label.NOT_IMPLEMENTED)
        if label is Label.NOT_APPLICABLE and criterion.not_applicable is NotApplicable.EXCLUDED:
            continue
        labels.add(label)
    return frozenset(labels)


def enforced_criteria(bom: Bom) -> frozenset[str]:
    """The ids of the must-have criteria that can block."""
    chosen = bom.decision.enforced_criteria
    return frozenset(c.id for c in bom.charter.criteria.must_have) if chosen is None else frozenset(chosen)


def is_enforced(item_id: str, bom_version: str, *, share: float) -> bool:
    """Whether the gate blocks for this item, or only watches (shadow). The same for all drafts of an item under a BOM.

    ``share`` in [0, 1] is the part of items that is enforced; drawn by a hash, so that every worker agrees.
    """
    if share >= 1.0:
        return True
    drawn = hashlib.sha256(f"{bom_version}\n{item_id}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(drawn[:8]) < share * 2**64
