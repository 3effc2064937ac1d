"""From a BOM to its instrument: every judge composed once a start, none of it once a draft."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from schemas.bom import Bom, Criterion, ModelBinding
from schemas.drafts import Draft
from schemas.errors import BomError, SettingsError
from schemas.rating import Comparison
from schemas.verdict_space import Form
from workers.judge.admission import AdmittingJudge, AdmittingRules
from workers.judge.cache import VerdictCache
from workers.judge.cached_judge import CachedJudge
from workers.judge.composed.compose import Leaf, compose, leaves_of
from workers.judge.composed.pairwise import PairwiseJudge
from workers.judge.fallback_judge import FallbackJudge
from workers.judge.forms import BINARY, VerdictForm, ordinal, pairwise
from workers.judge.gate import enforced_criteria
from workers.judge.instrument import AllAtOnce, CriterionJudge, Instrument, StopAtFirstFail
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
    purse: Purse | None = None  # of the BOM's caps; ``with_purse`` makes it
    heard: Heard | None = None


def build_instrument(bom: Bom, around: Surroundings) -> Instrument:
    """Raises BomError for rules, a template, a rubric or a script that cannot be judged with, and SettingsError for an
    endpoint or a price that is missing."""
    around = with_purse(bom, around)
    judges = []
    for criterion in bom.charter.criteria.must_have:
        rules = AdmittingRules(compile_rules(criterion), decision=bom.decision) if criterion.rules else None
        model = bound_judge(criterion.judge, criterion, bom, around) if criterion.judge else None
        judges.append(CriterionJudge(criterion.id, rules=rules, model=model))
    asking = StopAtFirstFail(enforced_criteria(bom)) if bom.decision.stop_at_first_fail else AllAtOnce()
    return Instrument(judges, deadline_s=bom.decision.draft_deadline_s, asking=asking, cache=around.cache)


def build_audit(bom: Bom, around: Surroundings) -> Instrument:
    """The judges that look at what was served: of another family, and without a say at the gate (S2 6.3)."""
    judges = [
        CriterionJudge(criterion.id, rules=None, model=bound_judge(criterion.audit, criterion, bom, around))
        for criterion in bom.charter.criteria.must_have
        if criterion.audit
    ]
    return Instrument(judges, deadline_s=bom.decision.draft_deadline_s, cache=around.cache)


def check_instrument(bom: Bom) -> None:
    """All of an instrument that a BOM alone decides, without any service. Raises BomError."""
    around = Surroundings(clock=time.monotonic, rng=random.Random(), counters=NoCounters(), prices={})
    for criterion in bom.charter.criteria.must_have:
        if criterion.rules:
            compile_rules(criterion)
        for bound in filter(None, (criterion.judge, criterion.audit)):
            renderer(criterion, bom)
            for name in leaves_of(bound, bom.compositions):
                if not bom.bindings[name].provider.over_http:
                    _single(Leaf(name, bom.bindings[name]), criterion, bom, around)


def renderer(criterion: Criterion, bom: Bom, *, swapped: bool = False) -> Callable[[Draft], Prompt]:
    """What a draft's prompt is for one criterion. ``swapped`` shows a comparison's rival first."""
    source = bom.template if criterion.form is Form.BINARY else bom.form_templates[criterion.form]
    template = PromptTemplate.parse(source, criterion.form)
    rubric, version = _checked_rubric(criterion, bom), bom.version

    def render(draft: Draft) -> Prompt:
        fence = fence_of(draft.judged_sha256, version)
        return template.render(rubric, draft, fence, scale=criterion.scale, swapped=swapped)

    return render


def forms_of(criterion: Criterion) -> tuple[VerdictForm, ...]:
    """What a model is asked for: one form, or both orders of a comparison, the draft first and then the rival first."""
    if criterion.form is Form.PAIRWISE:
        comparison = criterion.comparison or Comparison()
        return pairwise(comparison, swapped=False), pairwise(comparison, swapped=True)
    return (ordinal(criterion.scale) if criterion.scale else BINARY,)


def bindings_of(criterion: Criterion, bom: Bom) -> tuple[str, ...]:
    """The bindings that may judge a criterion, or audit it: those of its judges, and their fallbacks."""
    names: dict[str, None] = {}
    for bound in filter(None, (criterion.judge, criterion.audit)):
        for name in leaves_of(bound, bom.compositions):
            names[name] = None
            if (fallback := bom.bindings[name].fallback) is not None:
                names[fallback] = None
    return tuple(names)


def with_purse(bom: Bom, around: Surroundings) -> Surroundings:
    """The surroundings with the BOM's caps on cost, which all judges keep together; the same where they are there.

    Raises SettingsError where a model that may judge has no price.
    """
    caps = bom.decision.cost_caps
    if around.purse is not None or not (caps.need_prices or caps.max_calls):
        return around
    for name in (name for criterion in bom.charter.criteria.must_have for name in bindings_of(criterion, bom)):
        model = bom.bindings[name].model
        if caps.need_prices and model not in around.prices:
            raise SettingsError(
                f"decision.yaml caps the cost, but the price table has no model {model!r}; "
                "add it to the file of ASSAY_PRICES"
            )
    purse = Purse(
        caps, bom=bom.name, version=bom.version, shared=around.spending, counters=around.counters, now=utc_now
    )
    return replace(around, purse=purse)


def bound_judge(name: str, criterion: Criterion, bom: Bom, around: Surroundings) -> Judge:
    """The judge of this name for a criterion: a single model, or several that answer as one."""
    around = with_purse(bom, around)
    return compose(
        name,
        bindings=bom.bindings,
        compositions=bom.compositions,
        single=lambda leaf: _single(leaf, criterion, bom, around),
    )


def _single(leaf: Leaf, criterion: Criterion, bom: Bom, around: Surroundings) -> Judge:
    """One model, and the one that stands in for it while it cannot be asked."""
    judge = _admitted(leaf, criterion, bom, around)
    if leaf.binding.fallback is None:
        return judge
    stand_in = Leaf(f"{leaf.place}/fallback", bom.bindings[leaf.binding.fallback])
    fallback = _admitted(stand_in, criterion, bom, around)
    return FallbackJudge(judge, fallback, broken=_broken(leaf.binding, around), counters=around.counters)


def _admitted(leaf: Leaf, criterion: Criterion, bom: Bom, around: Surroundings) -> Judge:
    """One model behind cache and admission; for a comparison, the model in both orders."""
    judge, *others = (_asked(leaf, form, criterion, bom, around) for form in forms_of(criterion))
    for rival_first in others:
        judge = PairwiseJudge(criterion.comparison or Comparison(), draft_first=judge, rival_first=rival_first)
    return AdmittingJudge(
        judge,
        binding=leaf.binding,
        decision=bom.decision,
        admitted=bom.charter.generator_families,
        counters=around.counters,
        compares=criterion.form is Form.PAIRWISE,
    )


def _asked(leaf: Leaf, form: VerdictForm, criterion: Criterion, bom: Bom, around: Surroundings) -> Judge:
    clauses = citable(criterion, bom)
    judge = ModelJudge(
        criterion.id,
        model=_model(leaf.binding, bom, clauses, criterion.form, around),
        binding=leaf.binding,
        render=renderer(criterion, bom, swapped=form.swapped),
        form=form,
        clauses=clauses,
        price=around.prices.get(leaf.binding.model),
        counters=around.counters,
        clock=around.clock,
    )
    if around.cache is None:
        return judge
    return CachedJudge(
        judge,
        around.cache,
        bom_version=bom.version,
        counters=around.counters,
        clock=around.clock,
        entry=_entry(leaf, form, criterion),
    )


def _entry(leaf: Leaf, form: VerdictForm, criterion: Criterion) -> str:
    """Where the cache keeps a model's word. Compositions are worked out from cached words: see docs/adr/0004."""
    if criterion.form is Form.BINARY and leaf.place == criterion.judge:
        return criterion.id
    order = ("rival_first" if form.swapped else "draft_first",) if criterion.form is Form.PAIRWISE else ()
    return "/".join((criterion.id, leaf.place, *order))


def _broken(binding: ModelBinding, around: Surroundings) -> Callable[[], bool]:
    """Is the binding's endpoint broken? What needs no endpoint never is."""
    if not binding.provider.over_http:
        return lambda: False
    limits = reach_of(binding, around.endpoints).limits
    return lambda: limits.broken


def _model(binding: ModelBinding, bom: Bom, clauses: Sequence[str], form: Form, around: Surroundings) -> Model:
    model = build_model(
        binding,
        files=bom.files,
        clauses=clauses,
        form=form,
        endpoints=around.endpoints,
        purse=around.purse,
        price=around.prices.get(binding.model),
        rng=around.rng,
        clock=around.clock,
    )
    return ListeningModel(model, around.heard) if around.heard is not None else model


def calls_of(bom: Bom) -> int:
    """How many models one draft may be put before at the same time, gate and audit together."""
    return sum(
        (2 if criterion.form is Form.PAIRWISE else 1) * sum(1 for _ in leaves_of(bound, bom.compositions))
        for criterion in bom.charter.criteria.must_have
        for bound in (criterion.judge, criterion.audit)
        if bound
    )


def citable(criterion: Criterion, bom: Bom) -> tuple[str, ...]:
    """The clauses a judge may name for a criterion: the charter's for it, else all of the guidelines."""
    return criterion.clauses or tuple(bom.clauses)


def _checked_rubric(criterion: Criterion, bom: Bom) -> str:
    try:
        check_rubric(bom.rubrics[criterion.id])
    except BomError as error:
        raise BomError(f"rubrics/{criterion.id}.md: {error}") from error
    return bom.rubrics[criterion.id]
