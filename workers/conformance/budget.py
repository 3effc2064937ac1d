"""Budget: a judge that overruns its time, or is given more than it may read, abstains or hands over to its fallback."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from schemas.drafts import MAX_TEXT_CHARS, Draft
from workers.conformance.findings import Check, Finding, failed, not_applicable, passed, unavailable
from workers.conformance.ground import Ground
from workers.conformance.judging import Run, altered, asked_criteria, decided, most_asked, run
from workers.judge.providers.scripted import Answer

DEADLINE_S = 0.05
GRACE_S = 1.5
"""How much later than its deadline a judge may still answer: cutting off takes a moment on a busy machine."""

_LATE = Answer(
    reply={"label": "pass", "reason": "Late.", "evidence_spans": None, "guideline_clause": None}, latency_s=5.0
)


class Overrun(NamedTuple):
    """A run that had to overrun a limit. ``limit_s`` is the time it may take at the very most; None = not timed."""

    what: str
    run: Run
    asked: frozenset[str]
    limit_s: float | None = None


def evaluate(overruns: Sequence[Overrun], *, fallbacks: frozenset[str] = frozenset()) -> Finding:
    """``fallbacks`` are the judges declared to answer instead; any other decision after an overrun is a breach."""
    late = [one.what for one in overruns if one.limit_s is not None and one.run.elapsed_s > one.limit_s]
    took = [one.what for one in overruns if _decided_all_the_same(one, fallbacks)]
    evidence = {
        "overruns": [one.what for one in overruns],
        "decided": took,
        "late": late,
        "causes": sorted({str(v.cause) for one in overruns for v in one.run.verdicts if v.cause}),
        "longest_s": round(max((one.run.elapsed_s for one in overruns), default=0.0), 3),
    }
    if took:
        return failed(f"a decision was taken from an overrun ({took[0]})", **evidence)
    if late:
        return failed(f"the judge answered long after its deadline ({late[0]})", **evidence)
    return passed("every overrun ended in a non-decision, in time", **evidence)


def _decided_all_the_same(one: Overrun, fallbacks: frozenset[str]) -> bool:
    if one.run.error or one.asked - one.run.labels.keys():
        return True
    return any(v.criterion_id in one.asked and decided(v) and v.judge not in fallbacks for v in one.run.verdicts)


async def check(ground: Ground) -> Finding:
    """A reply that comes too late, one that was cut at its token limit, one that costs too much, and a huge draft."""
    asked = most_asked(ground.baseline)
    if asked is None:
        return not_applicable("rules decide everything: there is no budget to overrun")
    if ground.replying is None:
        return unavailable("there is no way here to make the judge's model overrun")
    criteria = asked_criteria(asked)
    late = await run(ground.replying(_LATE, deadline_s=DEADLINE_S), asked.draft)
    cut = await run(ground.replying(_LATE.model_copy(update=_CUT)), asked.draft)
    overruns = [Overrun("time", late, criteria, DEADLINE_S + GRACE_S), Overrun("tokens", cut, criteria)]
    if ground.max_draft_chars is not None and ground.max_draft_chars + len(asked.draft.text) + 10 <= MAX_TEXT_CHARS:
        huge = await run(ground.replying(_LATE.model_copy(update=_AT_ONCE)), _huge(asked.draft, ground.max_draft_chars))
        overruns.append(Overrun("size", huge, asked_criteria(huge)))
    return evaluate(overruns, fallbacks=ground.fallbacks)


def _huge(draft: Draft, limit: int) -> Draft:
    """The draft, longer than the judge may read."""
    return altered(draft, text=draft.text + " and so on" * (limit // 10 + 1))


_AT_ONCE = {"latency_s": 0.0}
_CUT = {"latency_s": 0.0, "finish_reason": "length"}
CHECK = Check("budget", "an overrun returns a non-decision or a declared fallback's verdict", check)
