"""Missing instruction: without its task no judge decides (S1, "Run rules")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from schemas.drafts import Draft
from schemas.verdict_space import Cause
from schemas.verdicts import AttemptOutcome
from workers.conformance.findings import Check, Finding, failed, passed, some, unavailable
from workers.conformance.ground import Ground
from workers.conformance.judging import Run, altered, by_model, decided, run_all


class Uninstructed(NamedTuple):
    """A draft without an instruction, judged, and what the gate would do."""

    run: Run
    outcome: AttemptOutcome


def evaluate(runs: Sequence[Uninstructed]) -> Finding:
    """No model is asked, its criteria abstain for this very cause, and nothing is served.

    A rule may still find a fault: what is structural needs no instruction.
    """
    if not runs:
        return unavailable("there is no draft to judge")
    wrong = [one.run.draft.item_id for one in runs if one.run.error or not _abstains(one.run)]
    served = [one.run.draft.item_id for one in runs if one.outcome is AttemptOutcome.SERVE]
    evidence = {"drafts": len(runs), "decided_or_other_cause": some(wrong), "served": some(served)}
    if served:
        return failed(f"{len(served)} drafts without an instruction were served", **evidence)
    if wrong:
        return failed(f"{len(wrong)} drafts without an instruction got a decision or another cause", **evidence)
    return passed(f"{len(runs)} drafts without an instruction: abstain(no_instruction), none served", **evidence)


def _abstains(run: Run) -> bool:
    return all(
        not decided(verdict) and verdict.cause is Cause.NO_INSTRUCTION and verdict.usage.calls == 0
        for verdict in run.verdicts
        if by_model(verdict)
    )


async def check(ground: Ground) -> Finding:
    """Every draft with its instruction missing, and with a blank one."""
    bare = [_without(draft, instruction) for draft in ground.drafts for instruction in (None, " \n")]
    runs = await run_all(ground.subject, bare, at_once=ground.at_once)
    return evaluate([Uninstructed(run, ground.gate(run.verdicts)) for run in runs])


def _without(draft: Draft, instruction: str | None) -> Draft:
    return altered(draft, context={**draft.context.model_dump(), "instruction": instruction})


CHECK = Check("instruction", "a missing instruction is abstain(no_instruction); no model is asked", check)
