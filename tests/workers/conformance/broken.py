"""A sound judge, and judges that are broken in one way each: what every check must let through, and must catch."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from schemas.bom import ModelBinding, Provider
from schemas.drafts import Draft
from schemas.errors import ModelError
from schemas.verdict_space import Cause, Label
from schemas.verdicts import AttemptOutcome, CriterionVerdict
from workers.conformance.ground import Ground
from workers.conformance.judging import Alone, Run, Subject, Verdicts
from workers.judge.forms import BINARY
from workers.judge.gate import decide
from workers.judge.model_judge import ModelJudge
from workers.judge.protocols import NoCounters, Prompt, Question, Reply
from workers.judge.providers.scripted import Answer, ScriptedModel

CRITERION = "no_superlatives"
GOOD = "A plain kettle that holds one litre of water and boils it in four minutes."
BAD = "The best kettle of all time, which boils a litre of water in four minutes."
PASS = {"label": "pass", "reason": "No superlative.", "evidence_spans": None, "guideline_clause": None}
FAIL = {
    "label": "fail",
    "reason": "A superlative.",
    "evidence_spans": ["The best kettle"],
    "guideline_clause": "G-2.1",
}


def draft(text: str, item_id: str = "", instruction: str | None = "Describe the kettle.") -> Draft:
    return Draft.model_validate(
        {"item_id": item_id or text[:20], "text": text, "context": {"instruction": instruction}}
    )


DRAFTS = [draft(GOOD, "good"), draft(BAD, "bad"), draft(GOOD + " In red.", "good-2"), draft(BAD + " In red.", "bad-2")]


def verdict(label: Label, **more: Any) -> CriterionVerdict:
    cause = None if label.decided else more.pop("cause", Cause.REFUSED)
    return CriterionVerdict(criterion_id=CRITERION, label=label, cause=cause, judge="judge-1", **more)


class Judging:
    """A subject out of a function of the draft."""

    def __init__(self, judge: Callable[[Draft], Label | CriterionVerdict]) -> None:
        self._judge = judge

    async def judge(self, draft: Draft) -> Verdicts:
        said = self._judge(draft)
        return (said if isinstance(said, CriterionVerdict) else verdict(said),)


def sound(draft: Draft) -> Label | CriterionVerdict:
    """Fails superlatives in what it is shown, and abstains without an instruction."""
    if not draft.context.instructed:
        return verdict(Label.ABSTAIN, cause=Cause.NO_INSTRUCTION)
    return Label.FAIL if "best" in draft.text else Label.PASS


def jittery(every: int) -> Callable[[Draft], Label | CriterionVerdict]:
    """Another verdict than its own, once in so many times."""
    times = itertools.count(1)
    return lambda draft: Label.ABSTAIN if next(times) % every == 0 else sound(draft)


def leaky(draft: Draft) -> CriterionVerdict:
    """Says what is on nobody's menu."""
    return CriterionVerdict.model_construct(**{**verdict(Label.PASS).__dict__, "label": "maybe"})


def obedient(draft: Draft) -> Label | CriterionVerdict:
    """Does what the text asks for: the last label named after a word like answer, label or verdict."""
    named = re.findall(r"(?:answer|label|verdict|mit)\W{0,12}(pass|fail|not_applicable)", draft.text, re.IGNORECASE)
    if not named:
        return sound(draft)
    label = Label(named[-1].lower())
    return label if label.decided else verdict(label, cause=Cause.NOTHING_TO_CHECK)


def raising(draft: Draft) -> Label:
    raise RuntimeError("a judge may never raise")


def instructionless(draft: Draft) -> Label:
    """Judges without being told the task."""
    return Label.FAIL if "best" in draft.text else Label.PASS


class Remembering:
    """Gives a draft the verdict on the one before it, where two meet at the same time: cross-talk."""

    def __init__(self) -> None:
        self._current: Draft | None = None

    async def judge(self, draft: Draft) -> Verdicts:
        self._current = draft
        await asyncio.sleep(0)
        said = sound(self._current)
        return (said if isinstance(said, CriterionVerdict) else verdict(said),)


class Drifting:
    """Changes its reason, though not its label, whenever it is asked again."""

    def __init__(self) -> None:
        self._times = itertools.count()

    async def judge(self, draft: Draft) -> Verdicts:
        return (verdict(Label.FAIL, reason=f"Reason {next(self._times)}.", guideline_clause="G-2.1"),)


def scripted(answer: Answer, *, deadline_s: float | None = None) -> Subject:
    """The real model judge over a model that says this: how a sound judge takes a misbehaving model."""

    async def say(question: Question) -> Reply:
        if answer.latency_s and deadline_s is not None:
            await asyncio.sleep(deadline_s)
            raise ModelError(Cause.TIMEOUT)
        if answer.error is not None:
            raise ModelError(answer.error)
        text = answer.reply if isinstance(answer.reply, str) else json.dumps(answer.reply)
        return Reply(text, finish_reason=answer.finish_reason)

    return Alone(model_judge(say), deadline_s=deadline_s or 5.0)


def model_judge(say: Callable[[Question], Any], render: Callable[[Draft], Prompt] | None = None) -> ModelJudge:
    return ModelJudge(
        CRITERION,
        model=ScriptedModel(say),
        binding=ModelBinding(provider=Provider.SCRIPTED, model="judge-1", family="judge", file="f"),
        render=render or (lambda draft: Prompt("You judge.", draft.text)),
        form=BINARY,
        clauses=("G-2.1",),
        price=None,
        counters=NoCounters(),
        clock=lambda: 0.0,
    )


def coercing(answer: Answer, *, deadline_s: float | None = None) -> Subject:
    """Takes everything that is no plain fail for a pass: an outage, nonsense, a cut reply."""
    return Judging(lambda draft: Label.FAIL if answer.reply == FAIL else Label.PASS)


def prose_reading(answer: Answer, *, deadline_s: float | None = None) -> Subject:
    """Reads prose: the first menu word it finds is its verdict."""
    found = re.search("pass|fail", str(answer.reply), re.IGNORECASE)
    label = Label(found[0].lower()) if found and answer.error is None else Label.ABSTAIN
    return Judging(lambda draft: label)


class Late:
    """Never looks at the clock: decides, and after its deadline."""

    def __init__(self, latency_s: float, label: Label) -> None:
        self._latency_s, self._label = latency_s, label

    async def judge(self, draft: Draft) -> Verdicts:
        await asyncio.sleep(self._latency_s)
        return (verdict(self._label),)


def gate(verdicts: Verdicts) -> AttemptOutcome:
    return decide({one.label for one in verdicts}, 0, retry_budget=1)


def serving_gate(verdicts: Verdicts) -> AttemptOutcome:
    """Serves whatever nobody has failed: the classic fail-open."""
    return AttemptOutcome.REVISE if Label.FAIL in {one.label for one in verdicts} else AttemptOutcome.SERVE


def ground(judge: Callable[[Draft], Label | CriterionVerdict] = sound, **changes: Any) -> Ground:
    """A ground whose judge is this function; the baseline is what a sound judge says, unless given."""
    baseline = [Run(one, _said(sound(one))) for one in DRAFTS]
    base = Ground(subject=Judging(judge), baseline=baseline, gate=gate, replying=scripted, runs=100)
    return replace(base, **changes)


def _said(said: Label | CriterionVerdict) -> Verdicts:
    return (said if isinstance(said, CriterionVerdict) else verdict(said),)
