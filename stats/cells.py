"""Every weekly metric from integer counts: they add up in any order, over any split, and can be taken back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from stats.checks import StatsInputError
from stats.unavailable import Number, ratio

EVERYTHING = "all"
"""The slice that every item is in."""
GATE = "gate"
"""The criterion under which a whole attempt's outcome is counted."""


class CellKey(NamedTuple):
    """Where a count belongs. pane: number of the event-time pane; a window is a sum of panes."""

    bom_version: str
    criterion: str
    slice: str
    stratum: str
    pane: int


def cell_name(judge: str, gold: str | None = None) -> str:
    """What is counted: the judge's label and, once known, the gold one: ``fail|pass``, ``fail|``."""
    return f"{judge}|{gold or ''}"


def pairs(cells: Mapping[str, int]) -> Counter[tuple[str, str]]:
    """Cells back to (judge, gold) counts, the unlabelled ones left out: what ``run_rates_from_pairs`` reads."""
    split = ((name.split("|", 1), n) for name, n in cells.items())
    return Counter({(judge, gold): n for (judge, gold), n in split if gold})


class Cells:
    """Counts per key and cell. Zeros are not kept, so what was added and taken back was never there."""

    __slots__ = ("counts",)

    def __init__(self) -> None:
        self.counts: dict[CellKey, dict[str, int]] = {}

    def add(self, key: tuple[str, str, str, str, int], cell: str, times: int = 1) -> None:
        """Count an event; ``times=-1`` takes it back. A shard may go below 0 until it is merged.

        key: a CellKey or, what is half the price in a hot loop, the bare tuple that equals it.
        """
        at = self.counts.get(key)  # type: ignore[call-overload]
        if at is None:
            at = self.counts[CellKey(*key)] = {}
        n = at.get(cell, 0) + times
        if n:
            at[cell] = n
        else:
            at.pop(cell, None)
            if not at:
                del self.counts[CellKey(*key)]

    def add_all(self, marks: Iterable[tuple[tuple[str, str, str, str, int], str, int]], sign: int = 1) -> set[Any]:
        """Count (key, cell, times) by (key, cell, times); the keys that were counted under. ``sign=-1`` takes back."""
        counts, touched = self.counts, set()
        for key, cell, times in marks:
            touched.add(key)
            at = counts.get(key)  # type: ignore[call-overload]
            n = at.get(cell, 0) + sign * times if at else 0
            if n:
                at[cell] = n
            else:
                self.add(key, cell, sign * times)  # the first one under its key, or the last
        return touched

    def retract(self, key: CellKey, cell: str) -> None:
        self.add(key, cell, -1)

    def merge(self, other: Cells) -> Cells:
        merged = Cells()
        for source in (self, other):
            for key, at in source.counts.items():
                for cell, n in at.items():
                    merged.add(key, cell, n)
        return merged

    def window(
        self,
        panes: Collection[int],
        *,
        bom_version: str,
        criterion: str,
        slice_: str = EVERYTHING,
        strata: Sequence[str] | None = None,
    ) -> Counter[str]:
        """The sum of these panes for one judge, criterion and slice, over the given strata (None: all)."""
        total: Counter[str] = Counter()
        for key, at in self.counts.items():
            fits = key.pane in panes and key[:3] == (bom_version, criterion, slice_)
            if fits and (strata is None or key.stratum in strata):
                total.update(at)
        for cell, n in total.items():
            if n < 0:
                raise StatsInputError("cells", n, f"must not be negative once all shards are merged ({cell})")
        return total

    def drop_before(self, pane: int) -> None:
        """Forget panes beyond the horizon; their published reports stay."""
        self.counts = {key: at for key, at in self.counts.items() if key.pane >= pane}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cells) and self.counts == other.counts

    def __hash__(self) -> int:
        raise TypeError("Cells changes: it has no hash")

    def to_json(self) -> list[list[Any]]:
        return [[*key, dict(sorted(at.items()))] for key, at in sorted(self.counts.items())]

    @classmethod
    def from_json(cls, rows: Iterable[Sequence[Any]]) -> Cells:
        cells = cls()
        cells.counts = {CellKey(*row[:5]): dict(row[5]) for row in rows}
        return cells


class Attempt(NamedTuple):
    """What one telemetry record says for the counts: labels per criterion, the attempt's outcome, the item's slices."""

    bom_version: str
    attempt: int
    outcome: str
    labels: Mapping[str, str]
    slices: Sequence[str] = ()
    stratum: str = ""


def fold_attempt(cells: Cells, attempt: Attempt, *, pane: int, times: int = 1) -> None:
    """Count an attempt once per criterion and once for the gate, in every slice the item is in."""
    bom, stratum, add = attempt.bom_version, attempt.stratum, cells.add
    outcome = f"{attempt.attempt}|{attempt.outcome}"
    for slice_ in (EVERYTHING, *attempt.slices):
        add((bom, GATE, slice_, stratum, pane), outcome, times)
        for criterion, label in attempt.labels.items():
            add((bom, criterion, slice_, stratum, pane), f"{label}|", times)


def pass_curve(gate_cells: Mapping[str, int], *, retry_budget: int, served: str = "serve") -> list[Number]:
    """Cumulative pass rate after 0..K retries from the gate's cells (``attempt|outcome``), per first draft judged."""
    by_attempt: Counter[int] = Counter()
    items = 0
    for name, n in gate_cells.items():
        attempt, outcome = name.split("|", 1)
        items += n * (attempt == "0")
        if outcome == served:
            by_attempt[int(attempt)] += n
    passed = [sum(by_attempt[k] for k in range(upto + 1)) for upto in range(retry_budget + 1)]
    return [ratio(n, items, "no first draft was judged") for n in passed]
