"""What compositions of judges must hold: members that exist, no loops, strangers where strangers are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from schemas.bom import Bom, Criterion, Provider
from schemas.compositions import AndGate, Cascade, Consensus
from schemas.errors import BomError
from schemas.verdict_space import Form
from workers.judge.composed.compose import leaves_of

MAX_DEPTH = 4

MAX_CALLS = 50
"""Models that one criterion may ask for one draft, each order of a comparison counted once."""


def compositions_are_sound(bom: Bom) -> None:
    """First of all checks: the others walk the compositions and rely on their end."""
    for name in bom.compositions:
        _names_and_members(name, bom)
    for name in bom.compositions:
        _no_loop(name, bom, path=())
    for name in bom.compositions:
        _not_too_many(name, bom)
    for name, composition in bom.compositions.items():
        if isinstance(composition, AndGate):
            _strangers(name, composition, bom)


def _names_and_members(name: str, bom: Bom) -> None:
    composition = bom.compositions[name]
    if name in bom.bindings:
        raise BomError(f"bindings.yaml: {name} is both a judge and a composition; give them two names")
    for member in composition.judges:
        if member not in bom.bindings and member not in bom.compositions:
            raise BomError(f"bindings.yaml: {name}: {member!r} is neither a judge nor a composition")
    if isinstance(composition, Consensus):
        _samples_differ(name, composition, bom)
    if isinstance(composition, Cascade) and composition.min_probability is not None:
        first = bom.bindings.get(composition.first)
        if first is None or not first.logprobs:
            raise BomError(
                f"bindings.yaml: {name}: min_probability needs a single first judge with logprobs: true; "
                f"{composition.first!r} has no probability"
            )


def _samples_differ(name: str, consensus: Consensus, bom: Bom) -> None:
    member = bom.bindings.get(consensus.member)
    if member is None:
        raise BomError(f"bindings.yaml: {name}: a consensus asks a single model; {consensus.member!r} is several")
    if member.provider is Provider.ANTHROPIC and consensus.temperature > 1:
        raise BomError(f"bindings.yaml: {name}: anthropic has no temperature above 1; {consensus.temperature:g} is")


def _no_loop(name: str, bom: Bom, *, path: tuple[str, ...]) -> None:
    if name in path:
        raise BomError(f"bindings.yaml: {' asks '.join((*path, name))}: a composition may not lead back to itself")
    if len(path) > MAX_DEPTH:
        raise BomError(f"bindings.yaml: {path[0]}: compositions are nested deeper than {MAX_DEPTH}")
    if name in bom.compositions:
        for member in bom.compositions[name].judges:
            _no_loop(member, bom, path=(*path, name))


def _not_too_many(name: str, bom: Bom) -> None:
    if sum(1 for _ in islice(leaves_of(name, bom.compositions), MAX_CALLS + 1)) > MAX_CALLS:
        raise BomError(f"bindings.yaml: {name} asks more than {MAX_CALLS} models for one draft")


def _strangers(name: str, gate: AndGate, bom: Bom) -> None:
    if shared := families(gate.first, bom) & families(gate.second, bom):
        raise BomError(
            f"bindings.yaml: {name}: both judges are of family {min(shared)!r}, and relatives miss the same defects; "
            "an AND gate needs a second judge of another family"
        )


def audits_are_independent(bom: Bom) -> None:
    for criterion in bom.charter.criteria.must_have:
        if criterion.audit is None or criterion.judge is None:
            continue
        if shared := families(criterion.audit, bom) & families(criterion.judge, bom):
            raise BomError(
                f"charter.yaml: {criterion.id}: audit and judge share the family {min(shared)!r}; an audit judge "
                "of the same family repeats the judge's misses"
            )


def cascades_fit_their_criteria(bom: Bom) -> None:
    """Clear cases are scores: they need a scale to lie on."""
    for criterion in bom.charter.criteria.must_have:
        for name, cascade in _cascades(criterion, bom):
            if cascade.clear is None:
                continue
            if criterion.form is not Form.ORDINAL or criterion.scale is None:
                raise BomError(f"bindings.yaml: {name}: clear cases are scores, but {criterion.id} is {criterion.form}")
            if not cascade.clear.fail_up_to < criterion.scale.pass_at <= cascade.clear.pass_from:
                raise BomError(f"bindings.yaml: {name}: pass_at of {criterion.id} must lie between the clear cases")


def families(name: str, bom: Bom) -> frozenset[str]:
    """The families of all models that a judge may ask, in lower case: those of their fallbacks too."""
    asked = [bom.bindings[leaf] for leaf in leaves_of(name, bom.compositions)]
    stand_ins = [bom.bindings[one.fallback] for one in asked if one.fallback and one.fallback in bom.bindings]
    return frozenset(binding.family.casefold() for binding in (*asked, *stand_ins))


def _cascades(criterion: Criterion, bom: Bom) -> Iterator[tuple[str, Cascade]]:
    names = [bound for bound in (criterion.judge, criterion.audit) if bound is not None]
    while names:
        name = names.pop()
        composition = bom.compositions.get(name)
        if composition is None:
            continue
        if isinstance(composition, Cascade):
            yield name, composition
        names += composition.judges
