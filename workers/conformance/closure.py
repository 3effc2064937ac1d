"""Closure: no verdict outside the menu, and what cannot be read is no decision."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from schemas.verdict_space import Label
from workers.conformance.findings import Check, Finding, failed, passed, some, unavailable
from workers.conformance.fuzz import unreadable_replies
from workers.conformance.ground import Ground
from workers.conformance.judging import Run, asked_criteria, decided, most_asked, run

FUZZED = 240
_SEED = 20261130
_MENU = frozenset(Label)


class Unreadable(NamedTuple):
    """A run whose model replied with what is no verdict; ``asked`` are the criteria that rules had left to it."""

    run: Run
    asked: frozenset[str]


def evaluate(runs: Sequence[Run], fuzzed: Sequence[Unreadable], *, menu: frozenset[object] = _MENU) -> Finding:
    """Every verdict is on the menu, decisions have no cause and non-decisions have one; unreadable replies decide
    nothing."""
    every = [*runs, *(one.run for one in fuzzed)]
    raised = [run.error for run in every if run.error is not None]
    outside = [v for run in every for v in run.verdicts if v.label not in menu or decided(v) != (v.cause is None)]
    coerced = [v for one in fuzzed for v in one.run.verdicts if v.criterion_id in one.asked and decided(v)]
    missing = sum(bool(one.asked - one.run.labels.keys()) for one in fuzzed if one.run.error is None)
    evidence = {
        "verdicts": sum(len(run.verdicts) for run in every),
        "unreadable_replies": len(fuzzed),
        "raised": len(raised),
        "outside_the_menu": len(outside),
        "read_as_decisions": len(coerced),
        "missing": missing,
    }
    if raised:
        return failed("the judge raised instead of abstaining", **evidence, errors=some(sorted(set(raised))))
    if outside or missing:
        return failed(f"{len(outside) + missing} verdicts are outside the menu or missing", **evidence)
    if coerced:
        return failed(f"{len(coerced)} replies that hold no verdict were read as decisions", **evidence)
    return passed(f"{evidence['verdicts']} verdicts on the menu; {len(fuzzed)} unreadable replies decided nothing",
                  **evidence)  # fmt: skip


async def check(ground: Ground) -> Finding:
    """The baseline, and the same judge over a model that replies with anything but a verdict."""
    asked = most_asked(ground.baseline)
    if asked is None:
        return evaluate(ground.baseline, [])
    if ground.replying is None:
        return unavailable("there is no way here to make the judge's model reply nonsense")
    criteria, fuzzed = asked_criteria(asked), []
    for answer in unreadable_replies(random.Random(_SEED), FUZZED):
        fuzzed.append(Unreadable(await run(ground.replying(answer), asked.draft), criteria))
    return evaluate(ground.baseline, fuzzed)


CHECK = Check("closure", "no verdict is outside the menu, and what cannot be parsed is no decision", check)
