"""Idempotence: judging again, now that the cache is warm, leaves everything as it was."""

from __future__ import annotations

from collections.abc import Sequence

from workers.conformance.findings import Check, Finding, failed, passed, some, unavailable
from workers.conformance.ground import Ground
from workers.conformance.judging import Run, Verdicts, run_all


def evaluate(cold: Sequence[Run], warm: Sequence[Run]) -> Finding:
    """The same drafts twice, in the same order: verdict, reason, spans and clause must be the same."""
    if not cold:
        return unavailable("there is no draft to judge")
    changed = [
        before.draft.item_id
        for before, after in zip(cold, warm, strict=True)
        if before.error or after.error or _content(before.verdicts) != _content(after.verdicts)
    ]
    hits = sum(verdict.cached for run in warm for verdict in run.verdicts)
    evidence = {"drafts": len(cold), "changed": len(changed), "from_cache": hits}
    if changed:
        return failed(f"{len(changed)} of {len(cold)} drafts read differently the second time", **evidence,
                      items=some(changed))  # fmt: skip
    return passed(f"{len(cold)} drafts judged again: verdict, reason and spans the same", **evidence)


def _content(verdicts: Verdicts) -> list[tuple[object, ...]]:
    return [(v.criterion_id, v.label, v.cause, v.reason, v.evidence_spans, v.guideline_clause) for v in verdicts]


async def check(ground: Ground) -> Finding:
    """Twice through the judge behind a verdict cache of its own, never through that of production."""
    if ground.cached is None:
        return unavailable("no cache to warm: install the embedded services, `pip install assay[embedded]`")
    cold = await run_all(ground.cached, ground.drafts, at_once=ground.at_once)
    return evaluate(cold, await run_all(ground.cached, ground.drafts, at_once=ground.at_once))


CHECK = Check("idempotence", "judging again after the cache is warm leaves verdict, reason and spans unchanged", check)
