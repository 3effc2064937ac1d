"""From a BOM to its instrument: every judge composed once a start, none of it once a draft."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from schemas.bom import Bom, Criterion, ModelBinding
from schemas.drafts import Draft
from schemas.errors import BomError, SettingsError
from workers.judge.admission import AdmittingJudge
from workers.judge.cache import VerdictCache
from workers.judge.cached_judge import CachedJudge
from workers.judge.fallback_judge import FallbackJudge
from workers.judge.instrument import CriterionJudge, Instrument
from workers.judge.limits.purse import Purse
from workers.judge.limits.shared_spending import SharedSpending
from workers.judge.listening import Heard, ListeningModel
from workers.judge.model_judge import ModelJudge
from workers.judge.pricing import Prices
from workers.judge.protocols import Counters, Judge, Model, NoCounters, Prompt
from workers.judge.providers.build import build_model, reach_of
from workers.judge.providers.endpoints import Endpoints
from workers.judge.providers.posting import utc_now
from workers.judge.rules import compile_rules
from workers.judge.schema import STRICT_SCHEMA
from workers.judge.template import PromptTemplate, check_rubric, fence_of


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an instrument needs beside its BOM, and what cannot change a verdict.

    ``clock`` is the event loop's, in seconds. Without ``endpoints`` no HTTP model can be bound; without ``cache`` every
    draft is judged afresh; without ``spending`` this process keeps the caps on cost alone. ``heard`` is told of every
    question and what came back.
    """

    clock: Callable[[], float]
    rng: random.Random
    counters: Counters
    prices: Prices
    endpoints: Endpoints | None = None
    cache: VerdictCache | None = None
    spending: SharedSpending | None = None
    heard: Heard | None = None


def build_instrument(bom: Bom, around: Surroundings) -> Instrument:
    """Raises BomError for rules, a template, a rubric or a script that cannot be judged with, and SettingsError for an
    endpoint or a price that is missing."""
    template = PromptTemplate.parse(bom.template)
    purse = purse_of(bom, around)
    judges = []
    for criterion in bom.charter.criteria.must_have:
        rules = compile_rules(criterion) if criterion.rules else None
        model = _model_judge(criterion, bom, template, around, purse) if criterion.judge else None
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
            if not any(binding.provider.over_http for binding in bindings_of(criterion, bom)):
                around = Surroundings(clock=time.monotonic, rng=random.Random(), counters=NoCounters(), prices={})
                _model_judge(criterion, bom, template, around, None)


def renderer(criterion: Criterion, bom: Bom, template: PromptTemplate) -> Callable[[Draft], Prompt]:
    """What a draft's prompt is for one criterion."""
    rubric, version = _checked_rubric(criterion, bom), bom.version

    def render(draft: Draft) -> Prompt:
        return template.render(rubric, draft, fence_of(draft.judged_sha256, version))

    return render


def bindings_of(criterion: Criterion, bom: Bom) -> tuple[ModelBinding, ...]:
    """The bindings that may judge a criterion: its own, and that one's fallback."""
    if criterion.judge is None:
        return ()
    own = bom.bindings[criterion.judge]
    return (own,) if own.fallback is None else (own, bom.bindings[own.fallback])


def purse_of(bom: Bom, around: Surroundings) -> Purse | None:
    """The caps on cost, shared by all judges. Raises SettingsError where a model that may judge has no price."""
    caps = bom.decision.cost_caps
    for criterion in bom.charter.criteria.must_have:
        for binding in bindings_of(criterion, bom):
            if caps.need_prices and binding.model not in around.prices:
                raise SettingsError(
                    f"decision.yaml caps the cost, but the price table has no model {binding.model!r}; "
                    "add it to the file of ASSAY_PRICES"
                )
    if not caps.need_prices and caps.max_calls is None:
        return None
    return Purse(caps, bom=bom.name, version=bom.version, shared=around.spending, counters=around.counters, now=utc_now)


def _model_judge(
    criterion: Criterion, bom: Bom, template: PromptTemplate, around: Surroundings, purse: Purse | None
) -> Judge:
    bindings = bindings_of(criterion, bom)
    judges = [_by_binding(binding, criterion, bom, template, around, purse) for binding in bindings]
    judge: Judge = judges[0]
    if len(judges) > 1:
        broken = _broken(bindings[0], around)
        fallback = _admitting(judges[1], bindings[1], bom, around)
        judge = FallbackJudge(judge, fallback, broken=broken, counters=around.counters)
    if around.cache is not None:
        judge = CachedJudge(judge, around.cache, bom_version=bom.version, counters=around.counters, clock=around.clock)
    return _admitting(judge, bindings[0], bom, around)


def _by_binding(
    binding: ModelBinding,
    criterion: Criterion,
    bom: Bom,
    template: PromptTemplate,
    around: Surroundings,
    purse: Purse | None,
) -> Judge:
    clauses = citable(criterion, bom)
    return ModelJudge(
        criterion.id,
        model=_model(binding, bom, clauses, around, purse),
        binding=binding,
        render=renderer(criterion, bom, template),
        schema=STRICT_SCHEMA,
        clauses=clauses,
        price=around.prices.get(binding.model),
        counters=around.counters,
        clock=around.clock,
    )


def _admitting(judge: Judge, binding: ModelBinding, bom: Bom, around: Surroundings) -> Judge:
    families = bom.charter.generator_families
    return AdmittingJudge(judge, binding=binding, decision=bom.decision, admitted=families, counters=around.counters)


def _broken(binding: ModelBinding, around: Surroundings) -> Callable[[], bool]:
    """Is the binding's endpoint broken? What needs no endpoint never is."""
    if not binding.provider.over_http:
        return lambda: False
    limits = reach_of(binding, around.endpoints).limits
    return lambda: limits.broken


def _model(binding: ModelBinding, bom: Bom, clauses: Sequence[str], around: Surroundings, purse: Purse | None) -> Model:
    model = build_model(
        binding,
        files=bom.files,
        clauses=clauses,
        endpoints=around.endpoints,
        purse=purse,
        price=around.prices.get(binding.model),
        rng=around.rng,
        clock=around.clock,
    )
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
