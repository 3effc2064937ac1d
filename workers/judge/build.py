"""From a BOM to its instrument: every judge composed once a start, none of it once a draft."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import httpx

from schemas.bom import Bom, Criterion, Provider
from schemas.drafts import Draft
from schemas.errors import BomError
from workers.judge.admission import AdmittingJudge
from workers.judge.cache import VerdictCache
from workers.judge.cached_judge import CachedJudge
from workers.judge.instrument import CriterionJudge, Instrument
from workers.judge.listening import Heard, ListeningModel
from workers.judge.model_judge import ModelJudge
from workers.judge.pricing import Prices
from workers.judge.protocols import Counters, Judge, Model, NoCounters, Prompt
from workers.judge.providers.build import build_model
from workers.judge.providers.openai_compatible import Endpoint
from workers.judge.rules import compile_rules
from workers.judge.schema import STRICT_SCHEMA
from workers.judge.template import PromptTemplate, check_rubric, fence_of


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an instrument needs beside its BOM, and what cannot change a verdict.

    ``clock`` is the event loop's, in seconds. Without ``endpoint`` and ``client`` no HTTP model can be bound; without
    ``cache`` every draft is judged afresh. ``heard`` is told of every question and what came back.
    """

    clock: Callable[[], float]
    rng: random.Random
    counters: Counters
    prices: Prices
    endpoint: Endpoint | None = None
    client: httpx.AsyncClient | None = None
    cache: VerdictCache | None = None
    heard: Heard | None = None


def build_instrument(bom: Bom, around: Surroundings) -> Instrument:
    """Raises BomError for rules, a template, a rubric or a script that cannot be judged with."""
    template = PromptTemplate.parse(bom.template)
    judges = []
    for criterion in bom.charter.criteria.must_have:
        rules = compile_rules(criterion) if criterion.rules else None
        model = _model_judge(criterion, bom, template, around) if criterion.judge else None
        judges.append(CriterionJudge(criterion.id, rules=rules, model=model))
    return Instrument(judges, deadline_s=bom.decision.draft_deadline_s)


def check_instrument(bom: Bom) -> None:
    """All of an instrument that a BOM alone decides, without any service. Raises BomError."""
    template = PromptTemplate.parse(bom.template)
    for criterion in bom.charter.criteria.must_have:
        if criterion.rules:
            compile_rules(criterion)
        if criterion.judge:
            _checked_rubric(criterion, bom)
            if bom.bindings[criterion.judge].provider is not Provider.OPENAI_COMPATIBLE:
                around = Surroundings(clock=time.monotonic, rng=random.Random(), counters=NoCounters(), prices={})
                _model_judge(criterion, bom, template, around)


def renderer(criterion: Criterion, bom: Bom, template: PromptTemplate) -> Callable[[Draft], Prompt]:
    """What a draft's prompt is for one criterion."""
    rubric, version = _checked_rubric(criterion, bom), bom.version

    def render(draft: Draft) -> Prompt:
        return template.render(rubric, draft, fence_of(draft.judged_sha256, version))

    return render


def _model_judge(criterion: Criterion, bom: Bom, template: PromptTemplate, around: Surroundings) -> Judge:
    assert criterion.judge is not None
    binding = bom.bindings[criterion.judge]
    clauses = citable(criterion, bom)
    judge: Judge = ModelJudge(
        criterion.id,
        model=_model(criterion, bom, clauses, around),
        binding=binding,
        render=renderer(criterion, bom, template),
        schema=STRICT_SCHEMA,
        clauses=clauses,
        price=around.prices.get(binding.model),
        counters=around.counters,
        clock=around.clock,
    )
    if around.cache is not None:
        judge = CachedJudge(judge, around.cache, bom_version=bom.version, counters=around.counters, clock=around.clock)
    families = bom.charter.generator_families
    return AdmittingJudge(judge, binding=binding, decision=bom.decision, admitted=families, counters=around.counters)


def _model(criterion: Criterion, bom: Bom, clauses: Sequence[str], around: Surroundings) -> Model:
    assert criterion.judge is not None
    build = partial(build_model, bom.bindings[criterion.judge], files=bom.files, clauses=clauses)
    model = build(endpoint=around.endpoint, client=around.client, rng=around.rng, clock=around.clock)
    return ListeningModel(model, around.heard) if around.heard is not None else model


def citable(criterion: Criterion, bom: Bom) -> tuple[str, ...]:
    """The clauses a judge may name for a criterion: the charter's for it, else all of the guidelines."""
    return criterion.clauses or tuple(bom.clauses)


def _checked_rubric(criterion: Criterion, bom: Bom) -> str:
    try:
        check_rubric(bom.rubrics[criterion.id])
    except BomError as error:
        raise BomError(f"rubrics/{criterion.id}.md: {error}") from error
    return bom.rubrics[criterion.id]
