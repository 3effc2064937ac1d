"""Sampled items and what people say of them: an open join, corrected and taken back vote by vote.

What a unit adds to the counts is a function of the unit alone, so the order of its messages does not matter: on every
change its old marks are taken back and the new ones added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import orjson

from schemas.decisions import Decision
from schemas.labels import HumanLabel, HumanVote, LabelStage, SampledItem, TaskKind
from stats.cells import EVERYTHING
from stats.panel import majority
from stats.verdicts import FAIL, PASS
from workers.stats_consumer.cells import (
    ATTRIBUTION,
    AUDIT,
    CALIBRATION,
    GOLD,
    ITEMS,
    PAIRS,
    PANEL,
    PPI,
    Mark,
    PanelItem,
    Reasons,
)
from workers.stats_consumer.weeks import pane_named

MIN_VOTES = 2
"""One person's word is no reference (S1 "Calibration": two label independently)."""


class Vote(NamedTuple):
    """The newest word of one rater on one criterion. They are ordered, so that the newest is the same in any order."""

    version: int
    labelled_at: float
    vote: str
    retracted: bool
    clause: str = ""


class Sample(NamedTuple):
    """What the sampling knew of the item."""

    kind: str
    pane: int
    bom_version: str
    round_id: str
    attempt: int
    stratum: str
    slices: tuple[str, ...]
    weight: float
    judge: dict[str, str]
    known: dict[str, str]
    clauses: dict[str, str]
    confidence: dict[str, int]  # thousandths
    audit: str


@dataclass(slots=True)
class Unit:
    """One task. ``votes``: (criterion, stage) -> rater -> newest word. ``failed``: attempt -> failed criteria."""

    task_id: str
    sample: Sample | None = None
    votes: dict[tuple[str, str], dict[str, Vote]] = field(default_factory=dict)
    failed: dict[int, tuple[str, ...]] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)

    def hear(self, label: HumanLabel) -> bool:
        """Take a vote in; False when nothing changes by it."""
        said = self.votes.setdefault((label.criterion_id, str(label.stage)), {})
        word = Vote(label.version, label.labelled_at.timestamp(), str(label.vote), label.retracted, label.clause or "")
        if label.rater_id in said and said[label.rater_id] >= word:
            return False
        said[label.rater_id] = word
        return True

    def cast(self, criterion: str) -> tuple[tuple[str, str], ...]:
        """(rater, pass or fail) of those who could tell, by rater."""
        words = self.votes.get((criterion, str(LabelStage.VOTE)), {})
        return tuple(sorted((rater, w.vote) for rater, w in words.items() if _decides(w)))

    def adjudicated(self, criterion: str) -> str | None:
        """The newest adjudicator's word."""
        word = self._adjudication(criterion)
        return word.vote if word else None

    def reasons(self, criterion: str) -> Reasons | None:
        """Which clauses people failed it for, and the judge. None where nobody names one.

        The people's is the adjudicator's, else the one that more than half of at least two namings name.
        """
        words, word = self.votes.get((criterion, str(LabelStage.VOTE)), {}), self._adjudication(criterion)
        named = tuple(sorted((rater, w.clause) for rater, w in words.items() if _names(w)))
        if word is not None:
            known = word.clause if _names(word) else None
        else:
            known = reference(named) if self.gold(criterion) == FAIL else None
        if not named and known is None:
            return None
        return Reasons(known, self.sample.clauses.get(criterion) if self.sample else None, named)

    def _adjudication(self, criterion: str) -> Vote | None:
        words = self.votes.get((criterion, str(LabelStage.ADJUDICATED)), {})
        return max((w for w in words.values() if _decides(w)), default=None)

    def gold(self, criterion: str) -> str | None:
        """What people say: the adjudicator's word, else the strict majority of at least two votes."""
        return self.adjudicated(criterion) or reference(self.cast(criterion))

    def settled(self) -> str:
        """The item as a whole: a defect if any criterion fails, ok if all pass, unsettled before that."""
        golds = [self.gold(criterion) for criterion in self.sample.judge] if self.sample else []
        if FAIL in golds:
            return "defect"
        return "ok" if golds and all(gold == PASS for gold in golds) else "unsettled"

    def row(self) -> bytes:
        votes = [[*of, rater, *word] for of, words in self.votes.items() for rater, word in words.items()]
        sample = list(self.sample) if self.sample else None  # orjson does not know named tuples
        return orjson.dumps([sample, votes, sorted(self.failed.items()), [list(mark) for mark in self.marks]])

    @classmethod
    def of(cls, task_id: str, row: bytes) -> Unit:
        sample, votes, failed, marks = orjson.loads(row)
        unit = cls(task_id, Sample._make(sample)._replace(slices=tuple(sample[6])) if sample else None)
        for criterion, stage, rater, *word in votes:
            unit.votes.setdefault((criterion, stage), {})[rater] = Vote(*word)
        unit.failed = {attempt: tuple(criteria) for attempt, criteria in failed}
        unit.marks = [Mark((k[0], k[1], k[2], k[3], k[4]), cell, times) for k, cell, times in marks]
        return unit


def reference(votes: Iterable[tuple[str, str]], *, without: str | None = None) -> str | None:
    """The strict majority of what everybody but ``without`` says; None on a tie or with too few words."""
    cast = [vote for rater, vote in votes if rater != without]
    return majority(cast) if len(cast) >= MIN_VOTES else None


def sample_of(item: SampledItem) -> Sample:
    return Sample(
        str(item.kind), pane_named(item.week), item.bom_version, item.round_id, item.attempt, str(item.stratum),
        item.slices, 1 / item.inclusion_probability, dict(item.judge_labels),
        {criterion: str(vote) for criterion, vote in item.gold_votes.items()}, dict(item.judge_clauses),
        {criterion: round(1000 * p) for criterion, p in item.judge_confidence.items()},
        whole(item.audit_labels.values()),
    )  # fmt: skip


def marks_of(unit: Unit, earlier: Unit | None, *, watched: frozenset[str]) -> list[Mark]:
    """What a unit adds to the counts now. ``earlier``: the unit of the same round's draft before this one, if any.

    Gold items never enter band or defect counts (S2 7.7 item 2).
    """
    if unit.sample is None:
        return []
    if unit.sample.kind == TaskKind.GOLD:
        return _gold(unit, unit.sample)
    if unit.sample.kind == TaskKind.AUDIT:
        return [_whole(unit, unit.sample, AUDIT, EVERYTHING), *_predicted(unit, unit.sample)]
    slices = (EVERYTHING, *sorted(watched.intersection(unit.sample.slices)))
    return [
        *(mark for slice_ in slices for mark in _panel(unit, unit.sample, slice_)),
        *(_whole(unit, unit.sample, ITEMS, slice_) for slice_ in slices if _decided_on(unit.sample)),
        *_calibration(unit, unit.sample),
        *_attribution(unit, unit.sample),
        *_pairs(unit, earlier),
    ]


def _panel(unit: Unit, sample: Sample, slice_: str) -> Iterable[Mark]:
    for criterion, judge in sample.judge.items():
        votes, adjudicated = unit.cast(criterion), unit.adjudicated(criterion)
        if votes or adjudicated:
            key = (sample.bom_version, PANEL + criterion, slice_, sample.stratum, sample.pane)
            yield Mark(key, PanelItem(judge, sample.weight, votes, adjudicated, unit.reasons(criterion)).cell())


def _whole(unit: Unit, sample: Sample, subject: str, slice_: str) -> Mark:
    cell = orjson.dumps([sample.attempt, sample.weight, unit.settled()]).decode()
    return Mark((sample.bom_version, subject, slice_, sample.stratum, sample.pane), cell)


def _predicted(unit: Unit, sample: Sample) -> Iterable[Mark]:
    """The audit judge's word beside the people's, for prediction-powered inference (S2 6.3)."""
    if sample.audit in (PASS, FAIL) and unit.settled() != "unsettled":
        yield Mark((sample.bom_version, PPI, EVERYTHING, "", sample.pane), f"{sample.audit}|{unit.settled()}")


def _calibration(unit: Unit, sample: Sample) -> Iterable[Mark]:
    """How sure the judge was, and whether people agree."""
    key = (sample.bom_version, CALIBRATION, EVERYTHING, "", sample.pane)
    for criterion, thousandths in sample.confidence.items():
        if (gold := unit.gold(criterion)) is not None:
            right = "right" if sample.judge.get(criterion) == gold else "wrong"
            yield Mark(key, f"{criterion}|{thousandths}|{right}")


def _decided_on(sample: Sample) -> bool:
    """Whether this draft is the one its stratum speaks of: an earlier draft of a served item was failed, not served."""
    served = sample.stratum in (Decision.SERVED_FIRST_PASS, Decision.SERVED_AFTER_REVISION)
    return not (served and FAIL in sample.judge.values())


def _gold(unit: Unit, sample: Sample) -> list[Mark]:
    return [
        Mark((sample.bom_version, GOLD, EVERYTHING, criterion, sample.pane), f"{rater}|{vote}|{known}")
        for criterion, known in sample.known.items()
        for rater, vote in unit.cast(criterion)
    ]


def _attribution(unit: Unit, sample: Sample) -> list[Mark]:
    """S2 6.2: the judge had failed this criterion on an earlier draft, or never had."""
    if sample.stratum != Decision.SERVED_AFTER_REVISION:
        return []
    key = (sample.bom_version, ATTRIBUTION, EVERYTHING, sample.stratum, sample.pane)
    return [
        Mark(key, f"{criterion}|{_how(unit.failed, sample.attempt, criterion)}")
        for criterion in sample.judge
        if unit.gold(criterion) == FAIL
    ]


def _how(failed: Mapping[int, tuple[str, ...]], attempt: int, criterion: str) -> str:
    before = [criteria for earlier, criteria in failed.items() if earlier < attempt]
    if any(criterion in criteria for criteria in before):
        return "caught_then_missed"
    return "never_failed" if len(before) == attempt else "unknown"


def _pairs(unit: Unit, earlier: Unit | None) -> list[Mark]:
    """Two drafts of one item in a row, both bad for people: what the judge said of each (S2 6.2, for rho)."""
    if earlier is None or unit.sample is None or earlier.sample is None:
        return []
    now, before = unit.sample, earlier.sample
    key = (now.bom_version, PAIRS, EVERYTHING, "", now.pane)
    return [
        Mark(key, f"{criterion}|{before.judge[criterion]}|{judge}")
        for criterion, judge in now.judge.items()
        if criterion in before.judge and unit.gold(criterion) == earlier.gold(criterion) == FAIL
    ]


def whole(labels: Iterable[str]) -> str:
    """Several labels of one draft as one: a fail fails it, all passes pass it, anything else is undecided."""
    said = set(labels)
    return FAIL if FAIL in said else PASS if said == {PASS} else "undecided"


def _names(word: Vote) -> bool:
    return not word.retracted and word.vote == HumanVote.FAIL and bool(word.clause)


def _decides(word: Vote) -> bool:
    return not word.retracted and word.vote in (HumanVote.PASS, HumanVote.FAIL)
