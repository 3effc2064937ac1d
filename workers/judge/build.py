"""From a BOM to its instrument: every judge composed once a start, none of it once a draft."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import httpx

from schemas.bom import Bom, Criterion
from workers.judge.cache import VerdictCache
from workers.judge.instrument import CriterionJudge, Instrument
from workers.judge.pricing import Prices
from workers.judge.protocols import Counters
from workers.judge.providers.openai_compatible import Endpoint
from workers.judge.rules import compile_rules
from workers.judge.template import PromptTemplate


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an instrument needs beside its BOM, and what cannot change a verdict. ``clock`` is the event loop's."""

    clock: Callable[[], float]
    rng: random.Random
    counters: Counters
    prices: Prices
    endpoint: Endpoint | None = None
    client: httpx.AsyncClient | None = None
    cache: VerdictCache | None = None


def build_instrument(bom: Bom, around: Surroundings) -> Instrument:
    """Raises BomError for rules, template, rubric or script that cannot be judged with."""
    template = PromptTemplate.parse(bom.template)
    judges = [_criterion_judge(criterion, bom, template, around) for criterion in bom.charter.criteria.must_have]
    return Instrument(judges, deadline_s=bom.decision.draft_deadline_s)


def _criterion_judge(c: Criterion, bom: Bom, template: PromptTemplate, around: Surroundings) -> CriterionJudge:
    rules = compile_rules(c) if c.rules else None
    return CriterionJudge(c.id, rules=rules, model=_model_judge(c, bom, template, around) if c.judge else None)


def check_instrument(bom: Bom) -> None:
    """Everything of an instrument that a BOM alone decides, without asking a model. Raises BomError."""
    template = PromptTemplate.parse(bom.template)
    for criterion in bom.charter.criteria.must_have:
        if criterion.rules:
            compile_rules(criterion)
        if criterion.judge:
            template.check_rubric(criterion.id, bom.rubrics[criterion.id])
