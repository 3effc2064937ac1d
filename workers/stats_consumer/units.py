"""Sampled items and what people say of them: an open join, corrected and taken back vote by vote.

What a unit adds to the counts (``unit_marks``) is a function of what it holds, so the order of its messages does not
matter: on every change its old marks are taken back and the new ones added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from schemas.labels import Fit, HumanLabel, HumanVote, LabelStage, SampledItem, fit_of
from stats.panel import majority
from stats.verdicts import FAIL, PASS
from workers.stats_consumer.cells import Mark, Reasons
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
    guidelines: str = ""


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
    guidelines: str = ""
    citable: tuple[str, ...] = ()  # ids of the guidelines' clauses

    def fit(self, word: Vote) -> Fit:
        return fit_of(word.guidelines, word.clause, asked=self.guidelines, clauses=self.citable)


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
        word = Vote(
            label.version, label.labelled_at.timestamp(), str(label.vote), label.retracted, label.clause or "",
            label.guideline_version,
        )  # fmt: skip
        if label.rater_id in said and said[label.rater_id] >= word:
            return False
        said[label.rater_id] = word
        return True

    def cast(self, criterion: str) -> tuple[tuple[str, str], ...]:
        """(rater, pass or fail) of those who could tell, by rater. One yardstick: votes of other guidelines are left
        to an adjudicator."""
        words = self.votes.get((criterion, str(LabelStage.VOTE)), {})
        return tuple(sorted((rater, w.vote) for rater, w in words.items() if _decides(w) and self._same_guidelines(w)))

    def adjudicated(self, criterion: str) -> str | None:
        """The newest adjudicator's word."""
        word = self._adjudication(criterion)
        return word.vote if word else None

    def reasons(self, criterion: str) -> Reasons | None:
        """Which clauses people failed it for, and the judge. None where nobody names one.

        The people's is the adjudicator's, else the one that more than half of at least two namings name.
        """
        words, word = self.votes.get((criterion, str(LabelStage.VOTE)), {}), self._adjudication(criterion)
        named = tuple(sorted((rater, w.clause) for rater, w in words.items() if self._names(w, Fit.FITS)))
        if word is not None:
            known = word.clause if self._names(word, Fit.FITS, Fit.OTHER_GUIDELINES) else None
        else:
            known = reference(named) if self.gold(criterion) == FAIL else None
        if not named and known is None:
            return None
        return Reasons(known, self.sample.clauses.get(criterion) if self.sample else None, named)

    def _adjudication(self, criterion: str) -> Vote | None:
        words = self.votes.get((criterion, str(LabelStage.ADJUDICATED)), {})
        return max((w for w in words.values() if _decides(w)), default=None)

    def fits(self) -> Iterator[tuple[str, Fit]]:
        """(criterion, how the label stands to the guidelines) of every newest word of what was asked."""
        if self.sample is None:
            return
        asked = self.sample.judge.keys() | self.sample.known.keys()
        for (criterion, _), words in self.votes.items():
            if criterion in asked:
                yield from ((criterion, self.sample.fit(word)) for word in words.values() if not word.retracted)

    def _same_guidelines(self, word: Vote) -> bool:
        return self.sample is None or self.sample.fit(word) is not Fit.OTHER_GUIDELINES

    def _names(self, word: Vote, *fits: Fit) -> bool:
        """Whether it says which clause is violated, one that there is."""
        says = not word.retracted and word.vote == HumanVote.FAIL and bool(word.clause)
        return says and (self.sample is None or self.sample.fit(word) in fits)

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
        unit = cls(task_id, _sample(sample) if sample else None)
        for criterion, stage, rater, *word in votes:
            unit.votes.setdefault((criterion, stage), {})[rater] = Vote(*word)
        unit.failed = {attempt: tuple(criteria) for attempt, criteria in failed}
        unit.marks = [((k[0], k[1], k[2], k[3], k[4]), cell, times) for k, cell, times in marks]
        return unit


def _sample(row: list[Any]) -> Sample:
    sample = Sample(*row)
    return sample._replace(slices=tuple(sample.slices), citable=tuple(sample.citable))


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
        whole(item.audit_labels.values()), item.guideline_version, item.guideline_clauses,
    )  # fmt: skip


def whole(labels: Iterable[str]) -> str:
    """Several labels of one draft as one: a fail fails it, all passes pass it, anything else is undecided."""
    said = set(labels)
    return FAIL if FAIL in said else PASS if said == {PASS} else "undecided"


def _decides(word: Vote) -> bool:
    return not word.retracted and word.vote in (HumanVote.PASS, HumanVote.FAIL)
