"""Which items people see: strata x slices, sizes that add up, a hash that decides (S2 5.1, 7.7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from schemas.decisions import Decision, ItemDecision
from schemas.labels import TaskKind
from stats.sampling import BottomK
from stats.unavailable import Unavailable
from workers.hitl.population import Population, Week

OVERSAMPLED = 3.0
"""How many times as likely as the rest of its stratum an item of an oversampled slice is drawn, while there is room."""

_REST = ""
_SERVED = frozenset({Decision.SERVED_FIRST_PASS, Decision.SERVED_AFTER_REVISION})


class Cell(NamedTuple):
    """Items of one stratum that are drawn alike. ``slice_name`` is the first oversampled slice they have, or empty."""

    stratum: Decision
    slice_name: str


class Drawn(NamedTuple):
    """One item of the sample. ``inclusion`` is exact: items of its cell that are drawn / items of its cell."""

    decision: ItemDecision
    kind: TaskKind
    inclusion: float


class CellCount(NamedTuple):
    cell: Cell
    population: int
    size: int


def cell_of(decision: ItemDecision, oversample: Sequence[str]) -> Cell:
    return Cell(decision.decision, next((name for name in oversample if name in decision.slices), _REST))


def cell_sizes(population: Population, *, oversample: Sequence[str], size: int) -> list[CellCount]:
    """How many of each cell are drawn. Strata share alike; within one, oversampled slices weigh three times.

    A cell or stratum that has fewer items is taken whole, and the others get what is left.
    """
    counts: dict[Cell, int] = {}
    for decision in population.decisions.values():
        cell = cell_of(decision, oversample)
        counts[cell] = counts.get(cell, 0) + 1
    strata: dict[str, int] = {}
    for cell, count in counts.items():
        strata[cell.stratum] = strata.get(cell.stratum, 0) + count
    shares = allocate(size, strata, dict.fromkeys(strata, 1.0))
    sizes: dict[Cell, int] = {}
    for stratum, share in shares.items():
        cells = {cell: count for cell, count in counts.items() if cell.stratum == stratum}
        named = {cell.slice_name: count for cell, count in cells.items()}
        weights = {name: count * (OVERSAMPLED if name else 1.0) for name, count in named.items()}
        for name, k in allocate(share, named, weights).items():
            sizes[Cell(Decision(stratum), name)] = k
    return [CellCount(cell, counts[cell], sizes[cell]) for cell in sorted(counts)]


def allocate(size: int, room: Mapping[str, int], weights: Mapping[str, float]) -> dict[str, int]:
    """Split ``size`` by weight into whole numbers, none above its room; they add up to min(size, all room).

    Largest remainders first, names in order where they tie, so that the same counts give the same split.
    """
    given = dict.fromkeys(sorted(room), 0)
    left = min(size, sum(room.values()))
    while left:
        open_ = [name for name in given if given[name] < room[name]]
        total = sum(weights[name] for name in open_)
        exact = {name: left * weights[name] / total for name in open_}
        steps = {name: min(int(exact[name]), room[name] - given[name]) for name in open_}
        if not any(steps.values()):
            for name in sorted(open_, key=lambda n: (-exact[n], n))[:left]:
                steps[name] = 1
        for name, step in steps.items():
            given[name] += step
        left -= sum(steps.values())
    return given


def draw_week(population: Population, counts: Iterable[CellCount], *, oversample: Sequence[str]) -> list[Drawn]:
    """The stratified sample: from each cell a simple random sample without replacement, the same on every repeat."""
    drawn = []
    for cell, _, size in counts:
        members = [d for d in population.decisions.values() if cell_of(d, oversample) == cell]
        drawn += _draw(members, size, TaskKind.SAMPLE, population.week)
    return drawn


def draw_audit(population: Population, size: int) -> list[Drawn]:
    """A uniform draw from what was served, independent of the other one: what PPI needs (S2 6.3)."""
    served = [d for d in population.decisions.values() if d.decision in _SERVED]
    return _draw(served, size, TaskKind.AUDIT, population.week)


def draw_pairs(population: Population, size: int) -> list[Drawn]:
    """A uniform draw from the rounds that went into revision, independent of the others: each stands for its first
    draft and that draft's revision, which people label both (S2 6.2)."""
    return _draw(revised(population), size, TaskKind.PAIR, population.week)


def revised(population: Population) -> list[ItemDecision]:
    """The rounds that were decided on a later draft than the first."""
    return [decision for decision in population.decisions.values() if decision.attempt > 0]


def _draw(members: Sequence[ItemDecision], size: int, kind: TaskKind, week: Week) -> list[Drawn]:
    if not size or not members:
        return []
    by_id = {decision.event_id: decision for decision in members}
    bottom = BottomK(size, salt=f"{week.name} {kind}")
    for event_id in by_id:
        bottom.add("cell", event_id)
    inclusion = bottom.inclusion("cell")
    assert not isinstance(inclusion, Unavailable)
    return [Drawn(by_id[event_id], kind, inclusion) for event_id in bottom.sample("cell")]
