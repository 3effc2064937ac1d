"""The judge under test: anything that gives verdicts on a draft, and what one run of it came to."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from schemas.drafts import Draft
from schemas.verdict_space import Label
from schemas.verdicts import CriterionVerdict
from workers.judge.protocols import Judge

NON_DECISIONS = frozenset(label for label in Label if not label.decided)

Verdicts = tuple[CriterionVerdict, ...]


class Subject(Protocol):
    """What is tested: an ``Instrument``, or anything that judges like one."""

    async def judge(self, draft: Draft) -> Verdicts: ...


class Alone:
    """A single ``Judge`` as a subject, with ``deadline_s`` seconds for each draft."""

    def __init__(self, judge: Judge, *, deadline_s: float) -> None:
        self._judge, self._deadline_s = judge, deadline_s

    async def judge(self, draft: Draft) -> Verdicts:
        deadline = asyncio.get_running_loop().time() + self._deadline_s
        return (await self._judge.judge(draft, deadline=deadline),)


class Run(NamedTuple):
    """One draft judged once. A judge that raised has no verdicts: ``error`` names the exception's class."""

    draft: Draft
    verdicts: Verdicts
    elapsed_s: float = 0.0
    error: str | None = None

    @property
    def labels(self) -> Mapping[str, str]:
        return {verdict.criterion_id: str(verdict.label) for verdict in self.verdicts}

    @property
    def said(self) -> tuple[tuple[str, str], ...]:
        """Criterion and label of every verdict: what must not change. A judge that raised said something else."""
        return (("raised", self.error),) if self.error else tuple(sorted(self.labels.items()))


def altered(draft: Draft, **changes: object) -> Draft:
    """The draft with other fields, and with the hashes that belong to them: a copy would keep those of the first."""
    return Draft.model_validate({**draft.model_dump(), **changes})


async def run(subject: Subject, draft: Draft) -> Run:
    """Judge one draft. A judge may never raise; one that does is a finding, not the end of the suite."""
    started = time.perf_counter()
    (answer,) = await asyncio.gather(subject.judge(draft), return_exceptions=True)
    elapsed_s = time.perf_counter() - started
    if isinstance(answer, Exception):
        return Run(draft, (), elapsed_s, type(answer).__name__)
    if isinstance(answer, BaseException):
        raise answer
    return Run(draft, answer, elapsed_s)


async def run_all(subject: Subject, drafts: Sequence[Draft], *, at_once: int) -> list[Run]:
    """Judge every draft, at most ``at_once`` at a time. The runs are in the order of the drafts."""
    free = asyncio.Semaphore(at_once)

    async def one(draft: Draft) -> Run:
        async with free:
            return await run(subject, draft)

    return list(await asyncio.gather(*(one(draft) for draft in drafts)))


def by_model(verdict: CriterionVerdict) -> bool:
    """True for a verdict that a model had, or would have had, to give: rules settle theirs alone."""
    return not verdict.judge.startswith("rule:")


def decided(verdict: CriterionVerdict) -> bool:
    """True for anything but the four non-decisions: what a judge leaks beside the menu would be acted upon too."""
    return verdict.label not in NON_DECISIONS


def asked_criteria(run: Run) -> frozenset[str]:
    """The criteria of a draft that its rules left to a model."""
    return frozenset(verdict.criterion_id for verdict in run.verdicts if by_model(verdict))


def most_asked(baseline: Sequence[Run]) -> Run | None:
    """The run whose draft gives the models most to do; None where rules decide everything, or nothing was judged."""
    best = max(baseline, key=lambda run: len(asked_criteria(run)), default=None)
    return best if best is not None and asked_criteria(best) else None
