"""What every composition does with the verdicts of its members: keep who said what, and add up what it took. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from schemas.verdict_space import Cause, Label
from schemas.verdicts import CriterionVerdict, Usage, Vote

Verdicts = Mapping[str, CriterionVerdict]
"""Member -> its verdict, in the order in which votes are shown."""


def joined(judge: str, members: Verdicts, **decision: Any) -> CriterionVerdict:
    """One verdict over its members'. ``decision`` is what was made of them: label, cause, reason and the rest."""
    verdicts = list(members.values())
    return CriterionVerdict(
        criterion_id=verdicts[0].criterion_id,
        judge=judge,
        provisional=any(verdict.provisional for verdict in verdicts),
        cached=all(verdict.cached for verdict in verdicts),
        flags=tuple(sorted({flag for verdict in verdicts for flag in verdict.flags} | set(decision.pop("flags", ())))),
        usage=added([verdict.usage for verdict in verdicts]),
        votes=votes_of(members),
        **decision,
    )


def like(verdict: CriterionVerdict, **changes: Any) -> dict[str, Any]:
    """A member's decision, or its want of one, as that of the whole."""
    kept = ("label", "cause", "detail", "reason", "evidence_spans", "guideline_clause", "score", "preference", "served")
    return {name: getattr(verdict, name) for name in kept} | changes


def undecided(verdicts: Sequence[CriterionVerdict]) -> dict[str, Any]:
    """What members that decided nothing come to: their common non-decision, else an abstain; the most frequent cause.

    Causes that are as frequent are taken in the order of the menu, so that the order of members changes nothing.
    """
    unsettled = [verdict for verdict in verdicts if not verdict.label.decided]
    labels = {verdict.label for verdict in unsettled}
    causes = Counter(verdict.cause for verdict in unsettled if verdict.cause is not None)
    most = max(causes.values())
    return {
        "label": labels.pop() if len(labels) == 1 else Label.ABSTAIN,
        "cause": next(cause for cause in Cause if causes[cause] == most),
        "detail": f"{len(unsettled)} of {len(verdicts)} judges decided nothing",
    }


def votes_of(members: Verdicts) -> tuple[Vote, ...]:
    """Every member's vote, each followed by the votes that it was made from."""
    votes: list[Vote] = []
    for name, verdict in members.items():
        votes.append(_vote(name, verdict))
        votes += (vote.model_copy(update={"name": f"{name}/{vote.name}"}) for vote in verdict.votes)
    return tuple(votes)


def _vote(name: str, verdict: CriterionVerdict) -> Vote:
    return Vote(
        name=name,
        judge=verdict.judge,
        label=verdict.label,
        cause=verdict.cause,
        detail=verdict.detail,
        score=verdict.score,
        preference=verdict.preference,
        cached=verdict.cached,
        usage=verdict.usage,
        served=verdict.served,
    )


def added(usages: Sequence[Usage]) -> Usage:
    """The sum; one part unknown makes it unknown. Latency is that of the slowest, as if all were asked at once."""
    return Usage(
        calls=sum(usage.calls for usage in usages),
        input_tokens=_tokens([usage.input_tokens for usage in usages]),
        output_tokens=_tokens([usage.output_tokens for usage in usages]),
        cost_usd=_cost([usage.cost_usd for usage in usages]),
        latency_ms=max((usage.latency_ms for usage in usages), default=0.0),
    )


def _tokens(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _cost(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return math.fsum(known) if len(known) == len(costs) else None  # exact, hence the same in any order
