"""Coverage: the share that the judge decides at all. It comes before every other number (S1, "Verdict space")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from schemas.verdicts import CriterionVerdict
from stats.unavailable import Unavailable, ratio
from workers.conformance.findings import Check, Finding, failed, passed, unavailable
from workers.conformance.ground import Ground
from workers.conformance.judging import decided


def evaluate(verdicts: Sequence[CriterionVerdict], *, minimum: float) -> Finding:
    """Below the minimum no other result of the suite means much: a judge that never decides breaks no rule."""
    share = ratio(sum(map(decided, verdicts)), len(verdicts), "nothing was judged")
    if isinstance(share, Unavailable):
        return unavailable(share.reason)
    causes = Counter(str(verdict.cause) for verdict in verdicts if verdict.cause is not None)
    evidence = {"coverage": share, "verdicts": len(verdicts), "minimum": minimum, "causes": dict(causes)}
    told = f"{share:.1%} of {len(verdicts)} verdicts are decisions"
    return passed(told, **evidence) if share >= minimum else failed(f"{told}, fewer than {minimum:.0%}", **evidence)


async def check(ground: Ground) -> Finding:
    """Over the drafts, and over those with gold labels where there are any: each has to reach the minimum."""
    findings = [evaluate([v for run in ground.baseline for v in run.verdicts], minimum=ground.min_coverage)]
    if ground.gold:
        findings.append(evaluate([v for gold in ground.gold for v in gold.run.verdicts], minimum=ground.min_coverage))
    return min(findings, key=lambda finding: finding.evidence.get("coverage", -1.0))


CHECK = Check("coverage", "the judge decides at least a minimum share of what it is shown", check)
