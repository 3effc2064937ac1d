"""The life of a label: unlabelled, double-annotated, agreed or adjudicated; the last two are gold (S1, Calibration)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from schemas.labels import HumanLabel, HumanVote, LabelStage, LabelTask


class Stage(StrEnum):
    """``agreed`` and ``adjudicated`` are gold. One opinion never is."""

    UNLABELLED = "unlabelled"
    ONE_VOTE = "one_vote"
    DOUBLE_ANNOTATED = "double_annotated"  # two votes or more, and more are wanted
    NEEDS_ADJUDICATION = "needs_adjudication"
    AGREED = "agreed"
    ADJUDICATED = "adjudicated"


@dataclass(frozen=True, slots=True)
class Gold:
    """The label of record. ``edited``: somebody corrected a vote or the adjudication on the way."""

    vote: HumanVote
    annotators: tuple[str, ...]
    adjudicator: str | None
    guideline_version: str
    edited: bool


@dataclass(frozen=True, slots=True)
class Life:
    """One criterion of one task. ``counted``: the first raters' newest votes; ``extra``: those of the raters after."""

    stage: Stage
    counted: tuple[HumanLabel, ...]
    extra: tuple[HumanLabel, ...] = ()
    gold: Gold | None = None


def life_of(task: LabelTask, criterion_id: str, labels: Iterable[HumanLabel]) -> Life:
    """Where a label stands. ``labels``: all versions of all raters, in any order; those of other tasks are passed over.

    Exactly ``raters_wanted`` votes count: those of the raters who voted first. A correction keeps its rater's place.
    Votes that differ, that cannot tell, or that were given under different guideline versions need an adjudicator.
    """
    ours = [label for label in labels if (label.task_id, label.criterion_id) == (task.task_id, criterion_id)]
    votes = _newest(label for label in ours if label.stage is LabelStage.VOTE)
    first = _first_said(ours)
    in_order = sorted(votes.values(), key=lambda vote: (first[vote.rater_id], vote.rater_id))
    counted, extra = tuple(in_order[: task.raters_wanted]), tuple(in_order[task.raters_wanted :])
    word = _last(_newest(label for label in ours if label.stage is LabelStage.ADJUDICATED))
    if len(counted) < 2:
        return Life(Stage.ONE_VOTE if counted else Stage.UNLABELLED, counted, extra)
    if word is not None:
        return Life(Stage.ADJUDICATED, counted, extra, _gold(counted, word))
    if len(counted) < task.raters_wanted:
        return Life(Stage.DOUBLE_ANNOTATED, counted, extra)
    if _agree(counted):
        return Life(Stage.AGREED, counted, extra, _gold(counted, None))
    return Life(Stage.NEEDS_ADJUDICATION, counted, extra)


def _newest(labels: Iterable[HumanLabel]) -> Mapping[str, HumanLabel]:
    """Each rater's highest version; a retracted one is no vote."""
    found: dict[str, HumanLabel] = {}
    for label in labels:
        if label.rater_id not in found or label.version > found[label.rater_id].version:
            found[label.rater_id] = label
    return {rater: label for rater, label in found.items() if not label.retracted}


def _first_said(labels: Iterable[HumanLabel]) -> Mapping[str, datetime]:
    first: dict[str, datetime] = {}
    for label in labels:
        if label.stage is LabelStage.VOTE:
            first[label.rater_id] = min(first.get(label.rater_id, label.labelled_at), label.labelled_at)
    return first


def _last(words: Mapping[str, HumanLabel]) -> HumanLabel | None:
    decided = [word for word in words.values() if word.vote is not HumanVote.CANNOT_TELL]
    return max(decided, key=lambda word: (word.labelled_at, word.rater_id), default=None)


def _agree(votes: tuple[HumanLabel, ...]) -> bool:
    said = {vote.vote for vote in votes}
    return len(said) == 1 and HumanVote.CANNOT_TELL not in said and len({v.guideline_version for v in votes}) == 1


def _gold(votes: tuple[HumanLabel, ...], word: HumanLabel | None) -> Gold:
    decisive = word or votes[0]
    return Gold(
        vote=decisive.vote,
        annotators=tuple(vote.rater_id for vote in votes),
        adjudicator=word.rater_id if word else None,
        guideline_version=decisive.guideline_version,
        edited=any(label.edited for label in (*votes, decisive)),
    )
