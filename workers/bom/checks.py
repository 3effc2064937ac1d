"""What the files of a BOM must say of each other. Each check refuses with what is wrong, where, and the remedy."""

from __future__ import annotations

import re
from collections.abc import Callable

from schemas.bom import Bom, OnDrop, Provider
from schemas.errors import BomError
from workers.bom.composition_checks import (
    audits_are_independent,
    cascades_fit_their_criteria,
    compositions_are_sound,
)
from workers.bom.labelled_set import CANARY_SET, GOLD_SET, read_labelled_set
from workers.judge.fallback import slots_of

_DATED = re.compile(r"(19|20)\d{2}-?[01]\d(-?[0-3]\d)?|-\d{4}\b|@|sha256:|\d{3,}$")
_HOSTED = re.compile(r"^(gpt|chatgpt|o\d|claude|gemini|command|mistral-(small|medium|large)|grok)\b", re.IGNORECASE)


def check(bom: Bom) -> None:
    """Raise BomError on the first thing that does not hold."""
    for holds in _CHECKS:
        holds(bom)


def _every_criterion_is_judged(bom: Bom) -> None:
    for criterion in bom.charter.criteria.must_have:
        if not criterion.rules and criterion.judge is None:
            raise BomError(f"charter.yaml: {criterion.id} has neither rules nor a judge; give it one")
        for bound in filter(None, (criterion.judge, criterion.audit)):
            if bound not in (known := {*bom.bindings, *bom.compositions}):
                names = ", ".join(sorted(known)) or "none"
                raise BomError(f"charter.yaml: {criterion.id}: no binding {bound!r} in bindings.yaml ({names})")


def _every_rubric_has_its_criterion(bom: Bom) -> None:
    ids = {c.id for c in bom.charter.criteria.must_have}
    for criterion in bom.charter.criteria.must_have:
        bound = criterion.judge or criterion.audit
        if bound is not None and not bom.rubrics.get(criterion.id, "").strip():
            raise BomError(f"rubrics/{criterion.id}.md is missing or empty; a model judge needs its rubric")
    if orphans := sorted(set(bom.rubrics) - ids):
        raise BomError(f"rubrics/{orphans[0]}.md belongs to no must-have criterion of charter.yaml")


def _every_cited_clause_exists(bom: Bom) -> None:
    for criterion in bom.charter.criteria.must_have:
        for clause in (*criterion.clauses, *(rule.clause for rule in criterion.rules)):
            if clause not in bom.clauses:
                raise BomError(
                    f"charter.yaml: {criterion.id} cites {clause}, which guidelines.md does not define; "
                    f"a clause begins with a line `## {clause} Its title`"
                )


def _enforced_criteria_exist(bom: Bom) -> None:
    enforced = bom.decision.enforced_criteria
    if enforced is None:
        return
    if not enforced:
        raise BomError(
            "decision.yaml: enforced_criteria is empty; leave it out to enforce all, or set enforced_share 0"
        )
    ids = {c.id for c in bom.charter.criteria.must_have}
    if unknown := sorted(set(enforced) - ids):
        raise BomError(f"decision.yaml: enforced_criteria names {unknown[0]!r}, which is no must-have criterion")


def _fallback_is_there(bom: Bom) -> None:
    if bom.charter.on_drop is OnDrop.FALLBACK_TEMPLATE and not (bom.fallback or "").strip():
        raise BomError("charter.yaml: on_drop is fallback_template, but fallback.md is missing or empty")
    if bom.fallback is not None:
        slots_of(bom.fallback)


def _models_are_pinned(bom: Bom) -> None:
    for name, binding in bom.bindings.items():
        if binding.provider.over_http and _floats(binding.model):
            raise BomError(
                f"bindings.yaml: {name}: {binding.model!r} is a floating alias, which the vendor can change silently; "
                "pin a dated model id"
            )


def _floats(model: str) -> bool:
    undated = _HOSTED.match(model) is not None and _DATED.search(model) is None
    return "latest" in model.lower() or undated


def _judge_and_generator_are_strangers(bom: Bom) -> None:
    for name, binding in bom.bindings.items():
        if binding.family in bom.charter.generator_families:
            raise BomError(
                f"bindings.yaml: {name}: family {binding.family!r} is also a generator family of charter.yaml; "
                "a judge must not share a family with what it judges"
            )


def _fallbacks_stand_apart(bom: Bom) -> None:
    """What breaks a judge, or makes it favour a text, must not do the same to the one that stands in for it."""
    for name, binding in bom.bindings.items():
        if binding.fallback is None:
            continue
        place = f"bindings.yaml: {name}: fallback {binding.fallback!r}"
        stand_in = bom.bindings.get(binding.fallback)
        if stand_in is None:
            raise BomError(f"{place} is no binding")
        if stand_in.fallback is not None:
            raise BomError(f"{place} has a fallback of its own; one is enough")
        if stand_in.family == binding.family:
            raise BomError(f"{place} is of the same family {binding.family!r}; take another vendor's model")
        if binding.provider.over_http and stand_in.provider.over_http and stand_in.endpoint == binding.endpoint:
            raise BomError(f"{place} is served at the same endpoint {binding.endpoint!r}; take another one")


def _files_of_bindings_are_there(bom: Bom) -> None:
    for name, binding in bom.bindings.items():
        needs = binding.provider in (Provider.SCRIPTED, Provider.RECORDED)
        if needs and (binding.file is None or binding.file not in bom.files):
            raise BomError(f"bindings.yaml: {name}: file {binding.file!r} is not in the BOM")


def _labelled_sets_can_be_read(bom: Bom) -> None:
    for name in (CANARY_SET, GOLD_SET):
        if name in bom.files:
            read_labelled_set(name, bom.files[name])


_CHECKS: tuple[Callable[[Bom], None], ...] = (
    compositions_are_sound,
    _every_criterion_is_judged,
    _every_rubric_has_its_criterion,
    _every_cited_clause_exists,
    _enforced_criteria_exist,
    _fallback_is_there,
    _models_are_pinned,
    _judge_and_generator_are_strangers,
    _fallbacks_stand_apart,
    _files_of_bindings_are_there,
    _labelled_sets_can_be_read,
    audits_are_independent,
    cascades_fit_their_criteria,
)
