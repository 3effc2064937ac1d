"""Votes in, one verdict out. Pure, and the same in whatever order the members are named."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.compositions import OnDisagreement, VotingRule
from schemas.verdict_space import Cause, Choice, Label
from schemas.verdicts import CriterionVerdict
from workers.judge.composed.joining import joined, like, undecided

_DECISIONS = (Label.PASS, Label.FAIL)
_ROUNDING = 1e-9
"""Weights such as 0.1 and 0.2 do not add up to 0.3 exactly."""


@dataclass(frozen=True, slots=True)
class Rule:
    """When a label wins. ``threshold`` is a share of all weight, above one half, and belongs to rule weighted."""

    rule: VotingRule
    on_disagreement: OnDisagreement
    weights: Mapping[str, float]
    threshold: float | None = None

    def wins(self, share: float) -> bool:
        match self.rule:
            case VotingRule.MAJORITY:
                return share > 0.5 + _ROUNDING
            case VotingRule.UNANIMITY:
                return share >= 1 - _ROUNDING
            case VotingRule.WEIGHTED:
                assert self.threshold is not None
                return share >= self.threshold - _ROUNDING


def tally(judge: str, verdicts: Mapping[str, CriterionVerdict], rule: Rule) -> CriterionVerdict:
    """The panel's verdict. Shares are of all members: one that abstains supports neither label.

    Decided votes that contradict each other and do not settle it are a disagreement. Where they agree and are merely
    too few, the reason is why the others abstained.
    """
    members = {name: verdicts[name] for name in sorted(verdicts)}
    return joined(judge, members, **_decision(members, rule))


def _decision(members: Mapping[str, CriterionVerdict], rule: Rule) -> dict[str, Any]:
    said = {label: [name for name, v in members.items() if v.label is label] for label in _DECISIONS}
    total = math.fsum(rule.weights[name] for name in members)
    for names in said.values():
        if rule.wins(math.fsum(rule.weights[name] for name in names) / total):
            return _won(members, names, rule)
    if all(said.values()):
        return _disagreed(members, said, rule)
    return undecided(list(members.values()))


def _won(members: Mapping[str, CriterionVerdict], names: Sequence[str], rule: Rule) -> dict[str, Any]:
    """The decision in the words of its weightiest supporter, with the panel's own measure."""
    speaker = max(sorted(names), key=lambda name: rule.weights[name])
    return like(
        members[speaker],
        detail=f"{len(names)} of {len(members)} say {members[speaker].label}",
        score=_median(members, rule),
        preference=_shared({members[name].preference for name in names}),
        served=None,
    )


def _disagreed(
    members: Mapping[str, CriterionVerdict], said: Mapping[Label, Sequence[str]], rule: Rule
) -> dict[str, Any]:
    detail = ", ".join(f"{len(names)} say {label}" for label, names in said.items()) + f" of {len(members)}"
    if rule.on_disagreement is OnDisagreement.ABSTAIN:
        return {"label": Label.ABSTAIN, "cause": Cause.PANEL_DISAGREEMENT, "detail": detail}
    speaker = max(sorted(said[Label.FAIL]), key=lambda name: rule.weights[name])
    return like(members[speaker], detail=f"{detail}; a disagreement fails", served=None)


def _median(members: Mapping[str, CriterionVerdict], rule: Rule) -> int | None:
    """The lower weighted median of the scores: on the same side of ``pass_at`` as any label that can win."""
    scores = sorted((v.score, rule.weights[name]) for name, v in members.items() if v.score is not None)
    half, below = math.fsum(weight for _, weight in scores) / 2, 0.0
    for score, weight in scores:
        below += weight
        if below >= half - _ROUNDING:
            return score
    return None


def _shared(preferences: Iterable[Choice | None]) -> Choice | None:
    """What the winning side prefers. Where it is not of one mind its two words are TIE and one other: a tie."""
    distinct = set(preferences)
    return distinct.pop() if len(distinct) == 1 else Choice.TIE
