"""What is counted under which name: the one list of the cells that the fold writes and the figures read.

A count stands under (BOM version, subject, slice, stratum, week) and its cell's name. Subjects that are no criterion
begin with ``#``; no criterion's id can.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import orjson

from stats.cells import EVERYTHING

CAUSES = "#causes"  # criterion|cause
FLAGS = "#flags"  # flag of an attempt or a verdict, once an attempt
USAGE = "#usage"  # attempts, calls, cached, verdicts, tokens, cost in millionths, latency buckets
LENGTH = "#length"  # criterion|length bucket|label, first drafts
ROUNDS = "#rounds"  # stratum = the decision; cell = the attempt it was taken at
STATUS = "status"  # stratum of ROUNDS for what is no decision: RESTARTED, ABANDONED, ...
ITEMS = "#items"  # what people said of a sampled item as a whole, per stratum
AUDIT = "#audit"  # the same for the uniform audit draw
PANEL = "#panel:"  # + criterion: one pattern of judge, raters, weight
ATTRIBUTION = "#attribution"  # criterion|how a defect came into the post-revision stratum
PAIRS = "#pairs"  # criterion, judge's word on the revision, weight: after a catch, both drafts bad for people
FIRST_DRAFTS = "#first_drafts"  # criterion, judge's word, weight: of first drafts that are bad for people
LABELS = "#labels"  # stratum = criterion; how labels stand to the guidelines of their task
CALIBRATION = "#calibration"  # criterion|stated confidence in thousandths|right or wrong
AUDITED = "#audited"  # the audit judge's word on a served draft as a whole, of all that it saw
PPI = "#ppi"  # the same of drafts that people saw too: audit judge|people
HEDGING = "#hedging"  # stratum = first or revised; words, hedges: of served drafts
GOLD = "#gold"  # stratum = criterion; rater|vote|known answer
CANARY = "#canary"  # stratum = day; item|criterion|kind|outcome
DEAD_LETTERS = "#dead_letters"  # topic|kind

RESTARTED, ABANDONED, CONFLICT, TWO_TEXTS = "restarted", "abandoned", "conflict", "two_texts"
WRONG_REVISION = "wrong_revision"  # an attempt that does not quote the request it must answer
FIRST, REVISED = "first", "revised"  # strata of the gate and of criteria: first drafts, later ones
GENERATOR = "generator:"  # + model: a slice

LATENCY_STEP, LENGTH_STEP = 1.04, 1.02  # buckets of 4 % and 2 %: the middle is off by half of that at most

Key = tuple[str, str, str, str, int]
"""BOM version, subject, slice, stratum, week."""


Mark = tuple[Key, str, int]
"""Something counted: key, cell, how often. A bare tuple: a dozen are made of every event."""


class Reasons(NamedTuple):
    """Guideline clauses that fails were given for. ``known``: the people's, where they agree on one."""

    known: str | None
    judge: str | None
    raters: tuple[tuple[str, str], ...]  # (rater, clause), sorted by rater


class PanelItem(NamedTuple):
    """What is remembered of a labelled item on one criterion: enough for every agreement figure, and no text."""

    judge: str
    weight: float
    votes: tuple[tuple[str, str], ...]  # (rater, pass | fail), sorted by rater
    adjudicated: str | None
    reasons: Reasons | None = None  # None: no rater named a clause

    def cell(self) -> str:
        return orjson.dumps([*self[:4], *(self.reasons or ())]).decode()

    @classmethod
    def of(cls, cell: str) -> PanelItem:
        judge, weight, votes, adjudicated, *given = orjson.loads(cell)
        reasons = Reasons(given[0], given[1], _pairs(given[2])) if given else None
        return cls(judge, weight, _pairs(votes), adjudicated, reasons)


def _pairs(listed: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((rater, said) for rater, said in listed)


def bucket(value: float, step: float) -> int:
    """The number of the geometric bucket a positive value falls into."""
    return round(math.log(max(value, 1e-3)) / math.log(step))


def middle(number: int, step: float) -> float:
    return float(step**number)


@lru_cache(4096)
def slices_counted(slices: tuple[str, ...], generator: str | None, watched: frozenset[str]) -> tuple[str, ...]:
    """Everything, the watched slices an item is in, and its generator: producers' own names never grow the table."""
    kept = tuple(sorted(watched.intersection(slices)))
    return (EVERYTHING, *kept, f"{GENERATOR}{generator or 'unknown'}")
