"""Weeks of drafts, decisions, samples and votes in which everybody is right with a known probability (S2 6.4)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta

from schemas.message import Message
from stats.verdicts import FAIL, PASS
from tests.workers.stats_consumer.said import BOM, attempt, decided, in_week, sampled, vote
from workers.bom import load_bom, read_files
from workers.bom.example import example_bom
from workers.stats_consumer.assurance import Terms
from workers.stats_consumer.checking import Checking
from workers.stats_consumer.closed_checks import Limits
from workers.stats_consumer.diagnosis import KINDS
from workers.stats_consumer.fold import Fold
from workers.stats_consumer.outcome import Fires, Looked, Outcome
from workers.stats_consumer.rules import DEFAULT_RULES
from workers.stats_consumer.week import weeks_of

WRONG = {FAIL: PASS, PASS: FAIL}
DIAGNOSES = {str(kind) for kind in KINDS}
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
    bom: str = BOM,
) -> list[Message]:
    """One criterion, c1. Flips change the judge's word after it was right or wrong."""
    messages: list[Message] = []
    for i in range(drafts):
        item, at = f"{bom}-w{number}-{i}", in_week(number, i)
        truth = FAIL if rng.random() < prevalence else PASS
        label = said(truth, judge, rng)
        if rng.random() < (fails_flipped if label == FAIL else passes_flipped):
            label = WRONG[label]
        stratum = "served_first_pass"
        messages.append(attempt(item, 0, {"c1": label}, at=at, bom=bom))
        if label == FAIL:
            stratum = "served_after_revision" if rng.random() < mended else "dropped"
            last = 1 if stratum == "served_after_revision" else 3
            later, now_said = at + timedelta(seconds=30), {"c1": PASS if last == 1 else FAIL}
            messages.append(attempt(item, last, now_said, at=later, bom=bom))
            messages.append(decided(item, stratum, last, at=later, bom=bom))
        else:
            messages.append(decided(item, at=at, bom=bom))
        if i < labelled:
            messages.append(sampled(item, {"c1": label}, week=number, stratum=stratum, bom=bom))
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


def looked(fold: Fold, *, now: datetime) -> list[Looked]:
    charter = EXAMPLE.charter
    costs = charter.relative_costs.break_even_defect_rate
    limits = Limits(charter.retry_budget, charter.max_served_defect_rate, costs)
    checking = Checking(limits, DEFAULT_RULES, label_wait=Terms().label_wait)
    return checking(weeks_of(fold.cells), now=now)


def outcomes(fold: Fold, *, now: datetime) -> list[Outcome]:
    return [outcome for look in looked(fold, now=now) for outcome in look.outcomes]


def fired(found: Sequence[Outcome]) -> set[str]:
    return {str(outcome.kind) for outcome in found if isinstance(outcome, Fires)}
