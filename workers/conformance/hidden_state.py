"""No hidden state: neither the order of drafts nor their number at a time changes a verdict."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from schemas.verdict_space import Label
from schemas.verdicts import CriterionVerdict
from workers.conformance.findings import Check, Finding, failed, passed, some, unavailable
from workers.conformance.ground import Ground
from workers.conformance.judging import Run, run_all

AT_ONCE = 100
_SEED = 20261130


def evaluate(baseline: Sequence[Run], runs: Sequence[Run]) -> Finding:
    """``runs`` are the drafts of ``baseline`` in any order and number.

    A verdict that is missing for want of time or connection is no changed mind: it is counted, and when that is all
    that came back nothing is shown.
    """
    first = {run.draft.judged_sha256: run for run in baseline}
    changed, starved = [], 0
    for run in runs:
        before, moved = first[run.draft.judged_sha256], _moved(first[run.draft.judged_sha256], run)
        starved += bool(moved) and all(_starved(verdict) for verdict in moved)
        if before.error != run.error or not all(_starved(verdict) for verdict in moved):
            changed.append(run.draft.item_id)
    evidence = {"drafts": len(first), "runs": len(runs), "changed": len(changed), "starved": starved}
    if changed:
        detail = f"{len(changed)} of {len(runs)} verdicts changed with the order or the number of drafts"
        return failed(detail, **evidence, items=some(sorted(set(changed))))
    if not runs or starved == len(runs):
        return unavailable("no draft was judged to the end under load", **evidence)
    return passed(f"{len(runs)} drafts in shuffled order, {AT_ONCE} at once: no verdict changed", **evidence)


def _moved(before: Run, after: Run) -> list[CriterionVerdict]:
    labels: Mapping[str, str] = before.labels
    return [verdict for verdict in after.verdicts if labels.get(verdict.criterion_id) != str(verdict.label)]


def _starved(verdict: CriterionVerdict) -> bool:
    return verdict.label is Label.ABSTAIN and verdict.cause is not None and verdict.cause.transient


async def check(ground: Ground) -> Finding:
    """Judges the drafts again, repeated until there are at least 100, shuffled, 100 at once."""
    drafts = ground.drafts
    if not drafts:
        return unavailable("there is no draft to judge")
    many = drafts * max(-(-AT_ONCE // len(drafts)), 1)
    random.Random(_SEED).shuffle(many)
    return evaluate(ground.baseline, await run_all(ground.subject, many, at_once=AT_ONCE))


CHECK = Check("hidden_state", "order and concurrency never change a verdict: nothing is kept between drafts", check)
