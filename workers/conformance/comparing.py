"""Collects the verdicts that a form needs: pairs with their texts in both places, better drafts with worse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from schemas.bom import Bom
from schemas.drafts import Draft
from schemas.verdict_space import Choice, Form
from schemas.verdicts import CriterionVerdict
from workers.conformance.judging import Run, Subject, altered, run_all
from workers.conformance.pairs import OrdinalPair, PairRun


class Dominance(NamedTuple):
    """Two drafts of which the first is better under the rubric, people say so."""

    better: Draft
    worse: Draft


def criteria_of(bom: Bom, form: Form) -> frozenset[str]:
    """The must-haves of a form."""
    return frozenset(criterion.id for criterion in bom.charter.criteria.must_have if criterion.form is form)


async def compared(subject: Subject, baseline: Sequence[Run], bom: Bom, *, at_once: int) -> list[PairRun] | None:
    """Every draft with a rival, and the same two texts the other way round; None where nothing is compared."""
    criteria = criteria_of(bom, Form.PAIRWISE)
    if not criteria:
        return None
    given = [run for run in baseline if run.draft.rival is not None]
    turned = await run_all(subject, [_turned(run.draft) for run in given], at_once=at_once)
    return [
        PairRun(f"{first.draft.item_id}, {name}", _preferred(first, name), _mirrored(_preferred(second, name)))
        for first, second in zip(given, turned, strict=True)
        for name in sorted(criteria)
    ]


async def scored(
    subject: Subject, dominances: Sequence[Dominance], bom: Bom, *, at_once: int
) -> list[OrdinalPair] | None:
    """Scores of the better and of the worse draft, on every ordinal criterion; None where there is none."""
    criteria = criteria_of(bom, Form.ORDINAL)
    if not criteria:
        return None
    better = await run_all(subject, [pair.better for pair in dominances], at_once=at_once)
    worse = await run_all(subject, [pair.worse for pair in dominances], at_once=at_once)
    return [
        OrdinalPair(f"{high.draft.item_id} over {low.draft.item_id}, {name}", _score(high, name), _score(low, name))
        for high, low in zip(better, worse, strict=True)
        for name in sorted(criteria)
    ]


def _turned(draft: Draft) -> Draft:
    return altered(draft, text=draft.rival, rival=draft.text)


def _preferred(run: Run, criterion: str) -> str:
    """The preference, in the run's own terms: A is the draft. Without one, its label: a non-decision."""
    said = _verdict(run, criterion)
    if said is None:
        return "abstain"
    return str(said.label if said.preference is None else said.preference)


def _mirrored(said: str) -> str:
    return str(Choice(said).mirrored) if said in tuple(Choice) else said


def _score(run: Run, criterion: str) -> int | str:
    said = _verdict(run, criterion)
    if said is None:
        return "abstain"
    return str(said.label) if said.score is None else said.score


def _verdict(run: Run, criterion: str) -> CriterionVerdict | None:
    return next((verdict for verdict in run.verdicts if verdict.criterion_id == criterion), None)
