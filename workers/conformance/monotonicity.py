"""Monotonicity: the better draft never scores lower (S1, "Run rules")."""

from __future__ import annotations

from collections.abc import Sequence

from workers.conformance.findings import Check, Finding, failed, not_applicable, passed, some, unavailable
from workers.conformance.ground import Ground
from workers.conformance.pairs import OrdinalPair


def evaluate(pairs: Sequence[OrdinalPair]) -> Finding:
    """The dominant draft never scores lower; a pair with a non-decision says nothing and is counted."""
    scored = [one for one in pairs if isinstance(one.dominant, int) and isinstance(one.dominated, int)]
    lower = [one.pair for one in scored if one.dominant < one.dominated]  # type: ignore[operator]
    evidence = {"pairs": len(pairs), "scored": len(scored), "lower": len(lower)}
    if lower:
        return failed(f"{len(lower)} of {len(scored)} dominant drafts scored lower", **evidence, first=some(lower))
    if not scored:
        return unavailable("no pair was scored on both sides", **evidence)
    return passed(f"{len(scored)} dominant drafts: none scored lower", **evidence)


async def check(ground: Ground) -> Finding:
    if ground.ordinal is None:
        return not_applicable("the judge gives no ordinal verdicts")
    return evaluate(ground.ordinal)


CHECK = Check("monotonicity", "a rubric-dominant draft never scores lower than the dominated one", check)
