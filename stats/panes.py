"""Event-time panes: late, duplicate, corrected and retracted events, and still the same counts as in a batch.

A pane holds the judgments made in it, whenever their labels arrive. It is open until the watermark passes its end,
provisional meanwhile, final afterwards. Ids and versions are kept for open panes (and ``keep_closed`` more), so the
state is bounded; everything turns to JSON and back between any two events.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from stats.cells import Cells
from stats.checks import StatsInputError, count, real


class Mark(NamedTuple):
    """One cell that an event counts in; the pane is added by the fold."""

    bom_version: str
    criterion: str
    slice: str
    stratum: str
    cell: str


class Event(NamedTuple):
    """A judgment (or its correction): version counts up per item; ts is when the *judgment* was made, in seconds."""

    id: str
    ts: float
    item: str
    version: int
    marks: tuple[Mark, ...]


class Fate(StrEnum):
    """What became of an event."""

    COUNTED = "counted"
    DUPLICATE = "duplicate"
    LATE = "late"
    CORRECTED = "corrected"
    OUTDATED = "outdated"


class Entry(NamedTuple):
    """The version of an item that is counted now."""

    version: int
    pane: int
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """How many events were accepted (neither duplicate nor late), for how many items, and how many were not."""

    accepted: int = 0
    items: int = 0
    duplicates: int = 0
    late: int = 0

    @property
    def superseded(self) -> int:
        """Accepted events beyond the first of their item: each replaced another version or was itself outdated."""
        return self.accepted - self.items


class PaneFold:
    """Folds events into cells. The same events give the same cells in any order and over any split, unless too late.

    width, lateness: seconds. An event is late when its pane's end is at or before the watermark, which is the lowest of
    the partitions' highest times minus the lateness; an idle partition must be released or it freezes the watermark.
    ``keep_closed``: closed panes whose ids are kept, so that a redelivery counts as duplicate, not late (None: all).
    A correction carries the judgment's own time; one that names another pane moves the item while both are kept. To
    take a judgment back, send a higher version without marks: that way the order of arrival does not matter.
    """

    def __init__(self, width: float, *, lateness: float = 0.0, keep_closed: int | None = 0) -> None:
        self.width = real("width", width, above=0.0)
        self.lateness = real("lateness", lateness, at_least=0.0)
        self.keep_closed = None if keep_closed is None else count("keep_closed", keep_closed)
        self.cells = Cells()
        self.tally = Tally()
        self.watermark = -math.inf
        self.highest: dict[int, float] = {}
        self.panes_of_ids: dict[str, int] = {}
        self.entries: dict[str, Entry] = {}

    def apply(self, event: Event, *, partition: int = 0) -> Fate:
        """Fold one event and say what became of it."""
        pane = math.floor(real("ts", event.ts) / self.width)
        if event.id in self.panes_of_ids:
            self.tally = _more(self.tally, duplicates=1)
            return Fate.DUPLICATE
        if self.final(pane):
            self.tally = _more(self.tally, late=1)
            return Fate.LATE
        self.panes_of_ids[event.id] = pane
        known = self.entries.get(event.item)
        self.tally = _more(self.tally, accepted=1, items=int(known is None))
        entry = Entry(count("version", event.version), pane, event.marks)
        if known is not None and known.version >= entry.version:
            return Fate.OUTDATED
        self._replace(event.item, known, entry)
        self._advance(partition, event.ts)
        return Fate.COUNTED if known is None else Fate.CORRECTED

    def final(self, pane: int) -> bool:
        """Whether no event can change this pane any more."""
        return (pane + 1) * self.width <= self.watermark

    def assign(self, partition: int) -> None:
        """A partition from which nothing came yet holds the watermark back."""
        self.highest.setdefault(partition, -math.inf)

    def release(self, partition: int) -> None:
        """An idle or revoked partition holds the watermark back no longer."""
        self.highest.pop(partition, None)
        self._move_watermark()

    def merge(self, other: PaneFold) -> PaneFold:
        """Two consumers' folds as if one had seen everything that either accepted."""
        if (self.width, self.lateness) != (other.width, other.lateness):
            raise StatsInputError("other", (other.width, other.lateness), "must have the same width and lateness")
        merged = PaneFold(self.width, lateness=self.lateness, keep_closed=self.keep_closed)
        merged.cells = self.cells.merge(other.cells)
        merged.entries = dict(self.entries)
        both_items = self.entries.keys() & other.entries.keys()
        for item, theirs in other.entries.items():
            mine = self.entries.get(item)
            winner, loser = (theirs, mine) if mine is None or theirs.version > mine.version else (mine, theirs)
            merged.entries[item] = winner
            if loser is not None:
                merged._count(loser, -1)
        both_ids = self.panes_of_ids.keys() & other.panes_of_ids.keys()
        merged.panes_of_ids = {**other.panes_of_ids, **self.panes_of_ids}
        merged.tally = Tally(
            self.tally.accepted + other.tally.accepted - len(both_ids),
            self.tally.items + other.tally.items - len(both_items),
            self.tally.duplicates + other.tally.duplicates + len(both_ids),
            self.tally.late + other.tally.late,
        )
        merged.highest = dict(self.highest)
        for partition, ts in other.highest.items():
            merged.highest[partition] = max(ts, merged.highest.get(partition, -math.inf))
        merged.watermark = max(self.watermark, other.watermark)
        merged._move_watermark()
        return merged

    def to_json(self) -> dict[str, Any]:
        return {
            "width": self.width,
            "lateness": self.lateness,
            "keep_closed": self.keep_closed,
            "watermark": None if self.watermark == -math.inf else self.watermark,
            "highest": {str(p): None if ts == -math.inf else ts for p, ts in sorted(self.highest.items())},
            "tally": [self.tally.accepted, self.tally.items, self.tally.duplicates, self.tally.late],
            "ids": dict(sorted(self.panes_of_ids.items())),
            "entries": {
                item: [e.version, e.pane, [list(m) for m in e.marks]] for item, e in sorted(self.entries.items())
            },
            "cells": self.cells.to_json(),
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> PaneFold:
        fold = cls(document["width"], lateness=document["lateness"], keep_closed=document["keep_closed"])
        fold.watermark = _time(document["watermark"])
        fold.highest = {int(p): _time(ts) for p, ts in document["highest"].items()}
        fold.tally = Tally(*document["tally"])
        fold.panes_of_ids = dict(document["ids"])
        fold.entries = {
            item: Entry(version, pane, tuple(Mark(*mark) for mark in marks))
            for item, (version, pane, marks) in document["entries"].items()
        }
        fold.cells = Cells.from_json(document["cells"])
        return fold

    def _replace(self, item: str, known: Entry | None, entry: Entry) -> None:
        if known is not None:
            self._count(known, -1)
        self._count(entry, 1)
        self.entries[item] = entry

    def _count(self, entry: Entry, times: int) -> None:
        for bom, criterion, slice_, stratum, cell in entry.marks:
            self.cells.add((bom, criterion, slice_, stratum, entry.pane), cell, times)

    def _advance(self, partition: int, ts: float) -> None:
        if ts > self.highest.get(partition, -math.inf):
            self.highest[partition] = ts
            self._move_watermark()

    def _move_watermark(self) -> None:
        moved = min(self.highest.values(), default=-math.inf) - self.lateness
        if moved <= self.watermark:
            return
        crossed = self.watermark == -math.inf or moved // self.width > self.watermark // self.width
        self.watermark = moved
        if crossed and self.keep_closed is not None:
            self._forget(math.floor(moved / self.width) - self.keep_closed)

    def _forget(self, first_kept: int) -> None:
        self.panes_of_ids = {id_: pane for id_, pane in self.panes_of_ids.items() if pane >= first_kept}
        self.entries = {item: entry for item, entry in self.entries.items() if entry.pane >= first_kept}


def _more(tally: Tally, *, accepted: int = 0, items: int = 0, duplicates: int = 0, late: int = 0) -> Tally:
    return Tally(tally.accepted + accepted, tally.items + items, tally.duplicates + duplicates, tally.late + late)


def _time(value: float | None) -> float:
    return -math.inf if value is None else float(value)
