"""Weeks of drafts, decisions, samples and votes in which everybody is right with a known probability (S2 6.4)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta

from schemas.message import Message
from stats.verdicts import FAIL, PASS
from tests.workers.stats_consumer.said import attempt, decided, in_week, sampled, vote
from workers.bom import load_bom, read_files
from workers.bom.example import example_bom
from workers.stats_consumer.assurance import Assurance
from workers.stats_consumer.fold import Fold
from workers.stats_consumer.outcome import Fires, Outcome
from workers.stats_consumer.week import weeks_of

WRONG = {FAIL: PASS, PASS: FAIL}
EXAMPLE = load_bom(read_files(example_bom()))


def said(truth: str, accuracy: float, rng: random.Random) -> str:
    return truth if rng.random() < accuracy else WRONG[truth]


def week(
    number: int,
    rng: random.Random,
    *,
    drafts: int = 1000,
    labelled: int = 300,
    prevalence: float = 0.4,
    raters: Sequence[float] = (0.87, 0.87, 0.87),
    judge: float = 0.87,
    fails_flipped: float = 0.0,
    passes_flipped: float = 0.0,
    mended: float = 0.6,
) -> list[Message]:
    """One criterion, c1. Flips change the judge's word after it was right or wrong."""
    messages: list[Message] = []
    for i in range(drafts):
        item, at = f"w{number}-{i}", in_week(number, i)
        truth = FAIL if rng.random() < prevalence else PASS
        label = said(truth, judge, rng)
        if rng.random() < (fails_flipped if label == FAIL else passes_flipped):
            label = WRONG[label]
        stratum = "served_first_pass"
        messages.append(attempt(item, 0, {"c1": label}, at=at))
        if label == FAIL:
            stratum = "served_after_revision" if rng.random() < mended else "dropped"
            last = 1 if stratum == "served_after_revision" else 3
            messages.append(attempt(item, last, {"c1": PASS if last == 1 else FAIL}, at=at + timedelta(seconds=30)))
            messages.append(decided(item, stratum, last, at=at + timedelta(seconds=30)))
        else:
            messages.append(decided(item, at=at))
        if i < labelled:
            messages.append(sampled(item, {"c1": label}, week=number, stratum=stratum))
            later = in_week(number + 1, i)
            messages += [vote(item, f"rater-{r}", said(truth, acc, rng), at=later) for r, acc in enumerate(raters)]
    return messages


def folded(*weeks: list[Message]) -> Fold:
    fold = Fold(watched=["new_item"])
    for messages in weeks:
        add(fold, messages)
    return fold


def add(fold: Fold, messages: list[Message]) -> None:
    for message in messages:
        fold.apply(message)


def outcomes(fold: Fold, *, now: datetime, assurance: Assurance | None = None) -> list[Outcome]:
    return (assurance or Assurance(EXAMPLE)).outcomes(weeks_of(fold.cells), now=now)


def fired(found: Sequence[Outcome]) -> set[str]:
    return {str(outcome.kind) for outcome in found if isinstance(outcome, Fires)}
