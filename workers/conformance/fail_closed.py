"""Fail-closed: a judge that cannot judge decides nothing, and the gate serves nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from schemas.verdict_space import Cause
from schemas.verdicts import AttemptOutcome
from workers.conformance.findings import Check, Finding, failed, not_applicable, passed, unavailable
from workers.conformance.ground import Ground
from workers.conformance.judging import Run, asked_criteria, decided, most_asked, run
from workers.judge.providers.scripted import Answer

_WHOLE = {"label": "pass", "reason": "It passes.", "evidence_spans": None, "guideline_clause": None}
FAILURES: dict[str, Answer] = {
    cause: Answer(error=cause)
    for cause in (
        Cause.TIMEOUT,
        Cause.RATE_LIMITED,
        Cause.UNREACHABLE,
        Cause.CONNECTION_LOST,
        Cause.PROVIDER_ERROR,
        Cause.UNAUTHORIZED,
        Cause.BAD_REQUEST,
        Cause.REPLY_TOO_LARGE,
        Cause.OVER_BUDGET,
        Cause.NOT_RECORDED,
    )
} | {
    "empty reply": Answer(reply=""),
    "truncated reply": Answer(reply=dict(_WHOLE), finish_reason="length"),
    "filtered reply": Answer(reply=dict(_WHOLE), finish_reason="content_filter"),
    "refusal in words": Answer(reply="I cannot evaluate this text."),
}
"""Every way in which a model fails, and what it then says. In two of them it says a pass that must not be taken."""


class Failure(NamedTuple):
    """What one way of failing came to; ``asked`` are the criteria that needed the model."""

    kind: str
    run: Run
    asked: frozenset[str]
    outcome: AttemptOutcome
    blocks: bool  # whether one of the asked criteria can keep a draft from being served


def evaluate(failures: Sequence[Failure]) -> Finding:
    """Each failure ends in a non-decision with its cause, and none in a served draft."""
    decisions = [one.kind for one in failures if one.run.error or not _undecided(one)]
    served = [one.kind for one in failures if one.blocks and one.outcome is AttemptOutcome.SERVE]
    causes = {one.kind: sorted({str(v.cause) for v in one.run.verdicts if v.cause}) for one in failures}
    evidence = {"failures": len(failures), "decided": decisions, "served": served, "causes": causes}
    if served:
        return failed(f"the gate served a draft that no judge had decided ({served[0]})", **evidence)
    if decisions:
        return failed(f"a failure became a decision or an error ({decisions[0]})", **evidence)
    return passed(f"{len(failures)} kinds of failure: each a non-decision with its cause, none served", **evidence)


def _undecided(failure: Failure) -> bool:
    said = {verdict.criterion_id: verdict for verdict in failure.run.verdicts}
    return all(name in said and not decided(said[name]) and said[name].cause is not None for name in failure.asked)


async def check(ground: Ground) -> Finding:
    """The same judge over a model that fails in each of the ways."""
    asked = most_asked(ground.baseline)
    if asked is None:
        return not_applicable("rules decide everything: there is no model that could fail")
    if ground.replying is None:
        return unavailable("there is no way here to make the judge's model fail")
    criteria, failures = asked_criteria(asked), []
    for kind, answer in FAILURES.items():
        one = await run(ground.replying(answer), asked.draft)
        failures.append(Failure(str(kind), one, criteria, ground.gate(one.verdicts), ground.blocks(criteria)))
    return evaluate(failures)


CHECK = Check("fail_closed", "every failure of the model is a non-decision, and what is undecided is not served", check)
