"""Determinism: identical inputs, identical verdicts (S1: 100 of them at temperature 0)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from stats.agreement import RetestAgreement, retest_agreement
from workers.conformance.findings import Check, Finding, failed, passed, unavailable
from workers.conformance.ground import Ground
from workers.conformance.judging import Run, most_asked, run_all


def evaluate(runs: Sequence[Run]) -> Finding:
    """``runs``: the same draft, again and again. Test-retest agreement goes beside the answer (S2 7.5 item 8)."""
    if len(runs) < 2:
        return unavailable("an input must be judged at least twice")
    said = Counter(run.said for run in runs)
    evidence = {
        "runs": len(runs),
        "different_verdicts": len(said),
        "most_frequent": max(said.values()),
        "test_retest": _agreement(runs),
        "labels": _by_criterion(runs),
    }
    if raised := [run.error for run in runs if run.error is not None]:
        return failed(f"the judge raised {raised[0]} on {len(raised)} of {len(runs)} identical inputs", **evidence)
    if len(said) == 1:
        return passed(f"{len(runs)} identical inputs, {len(runs)} identical verdicts", **evidence)
    odd = len(runs) - max(said.values())
    return failed(f"{odd} of {len(runs)} identical inputs got another verdict than the rest", **evidence)


def _agreement(runs: Sequence[Run]) -> object:
    agreement = retest_agreement([[run.said for run in runs]])
    return agreement.pairwise if isinstance(agreement, RetestAgreement) else agreement


def _by_criterion(runs: Sequence[Run]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for run in runs:
        for criterion, label in run.said:
            counts.setdefault(criterion, Counter())[str(label)] += 1
    return {criterion: dict(labels) for criterion, labels in sorted(counts.items())}


async def check(ground: Ground) -> Finding:
    """Judges one draft ``ground.runs`` times, without a cache: the draft that gives the models most to do."""
    chosen = most_asked(ground.baseline) or next(iter(ground.baseline), None)
    if chosen is None:
        return unavailable("there is no draft to judge")
    runs = await run_all(ground.subject, [chosen.draft] * ground.runs, at_once=ground.at_once)
    finding = evaluate(runs)
    evidence = {"item": chosen.draft.item_id, **ground.notes, **finding.evidence}
    return Finding(finding.result, finding.detail, evidence)


CHECK = Check("determinism", "100 identical inputs at temperature 0 get 100 identical verdicts", check)
