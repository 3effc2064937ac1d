"""The biases that the suite can measure on what it has judged anyway."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.bom import Bom
from schemas.verdict_space import Label
from workers.conformance.biases import FamilyRow, Measurement, hedging, length, self_preference
from workers.conformance.ground import GoldRun, Ground


def measured(ground: Ground, bom: Bom) -> list[Measurement]:
    """Length where there are scores; self-preference where there are gold labels; hedging where drafts were revised."""
    return [*_length(ground), *_self_preference(ground.gold, bom), *_hedging(ground)]


def _length(ground: Ground) -> list[Measurement]:
    by_criterion: dict[str, list[tuple[float, int]]] = {}
    for run in [*ground.baseline, *(one.run for one in ground.gold)]:
        for verdict in run.verdicts:
            if verdict.score is not None:
                by_criterion.setdefault(verdict.criterion_id, []).append((verdict.score, len(run.draft.text)))
    return [length(scores, of=criterion) for criterion, scores in sorted(by_criterion.items())]


def _self_preference(gold: Sequence[GoldRun], bom: Bom) -> list[Measurement]:
    if not gold:
        return []
    found = []
    for criterion in bom.charter.criteria.must_have:
        if criterion.judge is None or criterion.judge not in bom.bindings:
            continue
        rows = [
            FamilyRow(one.run.draft.generator_model, one.run.labels.get(criterion.id, Label.ABSTAIN), label)
            for one in gold
            if (label := one.gold.get(criterion.id)) is not None
        ]
        family = bom.bindings[criterion.judge].family
        found.append(self_preference(rows, family=family, families=bom.charter.generator_families, of=criterion.id))
    return found


def _hedging(ground: Ground) -> list[Measurement]:
    drafts = [*ground.drafts, *(one.run.draft for one in ground.gold)]
    revised = [draft.text for draft in drafts if draft.attempt > 0]
    if not revised:
        return []
    shift = hedging([draft.text for draft in drafts if draft.attempt == 0], revised)
    return [Measurement("hedging", "first drafts against revised ones", shift)]
