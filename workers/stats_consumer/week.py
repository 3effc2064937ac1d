"""One week under one BOM version, to be read: the cells by subject, slice and stratum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from stats.cells import EVERYTHING, GATE, Cells
from workers.stats_consumer.cells import FIRST, PANEL, PanelItem


class Week:
    """Counts of one (BOM version, week). Nothing here changes."""

    def __init__(self, bom_version: str, pane: int) -> None:
        self.bom_version, self.pane = bom_version, pane
        self._by: dict[tuple[str, str], dict[str, dict[str, int]]] = {}

    def put(self, subject: str, slice_: str, stratum: str, cells: dict[str, int]) -> None:
        self._by.setdefault((subject, slice_), {})[stratum] = cells

    def strata(self, subject: str, slice_: str = EVERYTHING) -> dict[str, dict[str, int]]:
        return self._by.get((subject, slice_), {})

    def cells(self, subject: str, slice_: str = EVERYTHING, strata: Collection[str] | None = None) -> Counter[str]:
        """The sum over the strata (None: all)."""
        total: Counter[str] = Counter()
        for stratum, cells in self.strata(subject, slice_).items():
            if strata is None or stratum in strata:
                total.update(cells)
        return total

    def criteria(self) -> list[str]:
        judged = {s for s, _ in self._by if not s.startswith("#") and s != GATE}
        return sorted(judged | {s.removeprefix(PANEL) for s, _ in self._by if s.startswith(PANEL)})

    def slices(self, subject: str) -> list[str]:
        """Everything first, then the others by name."""
        found = {slice_ for s, slice_ in self._by if s == subject}
        return sorted(found, key=lambda slice_: (slice_ != EVERYTHING, slice_))

    def first_drafts(self, slice_: str = EVERYTHING) -> tuple[int, int]:
        """(served, judged) of first drafts."""
        outcomes = self.cells(GATE, slice_, [FIRST])
        return outcomes["0|serve"], outcomes.total()

    def first_passes(self, criterion: str, slice_: str = EVERYTHING) -> tuple[int, int]:
        """(passed, decided) of first drafts on one criterion."""
        labels = self.cells(criterion, slice_, [FIRST])
        return labels["pass|"], labels["pass|"] + labels["fail|"]

    def panel(self, criterion: str, slice_: str = EVERYTHING) -> list[tuple[str, PanelItem, int]]:
        """(stratum, item, how many such items) of everything that people labelled."""
        strata = self.strata(PANEL + criterion, slice_)
        return [(s, PanelItem.of(cell), n) for s, cells in sorted(strata.items()) for cell, n in sorted(cells.items())]


def weeks_of(cells: Cells) -> dict[str, dict[int, Week]]:
    """BOM version -> week number -> week."""
    weeks: dict[str, dict[int, Week]] = {}
    for (bom, subject, slice_, stratum, pane), at in cells.counts.items():
        of_bom = weeks.setdefault(bom, {})
        if pane not in of_bom:
            of_bom[pane] = Week(bom, pane)
        of_bom[pane].put(subject, slice_, stratum, at)
    return weeks


def pooled(pairs: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Sums of (x, n)."""
    x = n = 0
    for hits, total in pairs:
        x, n = x + hits, n + total
    return x, n
