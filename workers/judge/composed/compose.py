"""From the name of a judge in ``bindings.yaml`` to the judge: a single model, or a composition of such."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from schemas.bom import ModelBinding
from schemas.compositions import AndGate, Cascade, Composition, Consensus, Panel
from workers.judge.composed.and_gate import AndGateJudge
from workers.judge.composed.cascade import CascadeJudge, Settles
from workers.judge.composed.panel import PanelJudge
from workers.judge.composed.tally import Rule
from workers.judge.protocols import Judge


class Leaf(NamedTuple):
    """One model at one place: the binding's name, and for the samples of a consensus its composition and number."""

    place: str
    binding: ModelBinding


def compose(
    name: str,
    *,
    bindings: Mapping[str, ModelBinding],
    compositions: Mapping[str, Composition],
    single: Callable[[Leaf], Judge],
) -> Judge:
    """The judge of this name. ``single`` makes the judge of one model. The BOM's checks have ruled out loops."""
    named = partial(compose, bindings=bindings, compositions=compositions, single=single)
    match compositions.get(name):
        case None:
            return single(Leaf(name, bindings[name]))
        case Panel() as panel:
            weights = panel.weights or dict.fromkeys(panel.members, 1.0)
            rule = Rule(panel.rule, panel.on_disagreement, weights, panel.threshold)
            return PanelJudge(name, {member: named(member) for member in panel.members}, rule)
        case Consensus() as consensus:
            samples = {leaf.place: single(leaf) for leaf in samples_of(name, consensus, bindings)}
            rule = Rule(consensus.rule, consensus.on_disagreement, dict.fromkeys(samples, 1.0))
            return PanelJudge(name, samples, rule)
        case AndGate() as gate:
            first, second = (gate.first, named(gate.first)), (gate.second, named(gate.second))
            return AndGateJudge(name, first=first, second=second, applies=gate.applies)
        case Cascade() as cascade:
            first, second = (cascade.first, named(cascade.first)), (cascade.second, named(cascade.second))
            return CascadeJudge(name, first=first, second=second, settles=Settles.of(cascade))


def samples_of(name: str, consensus: Consensus, bindings: Mapping[str, ModelBinding]) -> tuple[Leaf, ...]:
    """The same model with seeds that count up: each sample can be repeated, and no two are the same request."""
    binding = bindings[consensus.member]
    first = binding.seed or 0
    return tuple(
        Leaf(
            f"{name}#{number}",
            binding.model_copy(update={"temperature": consensus.temperature, "seed": first + number}),
        )
        for number in range(consensus.samples)
    )


def leaves_of(name: str, compositions: Mapping[str, Composition]) -> Iterator[str]:
    """The bindings that a judge may ask for one draft, one by one: a name comes as often as it is asked."""
    composition = compositions.get(name)
    if composition is None:
        yield name
    elif isinstance(composition, Consensus):
        yield from [composition.member] * composition.samples
    else:
        for member in composition.judges:
            yield from leaves_of(member, compositions)
