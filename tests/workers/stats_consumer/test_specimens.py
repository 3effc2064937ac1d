"""Every kind of alert has a specimen that raises it and a section that says what to do; healthy weeks raise none."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from schemas.alerts import AlertKind
from schemas.message import Message
from schemas.verdict_space import Cause, Flag
from tests.workers.stats_consumer.said import attempt, canary, decided, in_week, sampled, vote
from tests.workers.stats_consumer.simulated import add, fired, folded, outcomes, week
from workers.stats_consumer.cells import PANEL
from workers.stats_consumer.fold import Fold
from workers.stats_consumer.kinds import MEANINGS
from workers.stats_consumer.outcome import NoData
from workers.stats_consumer.weeks import pane_of

RUNBOOK = (Path(__file__).parents[3] / "docs" / "runbook.md").read_text(encoding="utf-8")
CAREFUL = {"raters": (0.98, 0.98, 0.98), "judge": 0.99, "prevalence": 0.3, "drafts": 500, "labelled": 250}
NOW = in_week(5)
"""Weeks 0 to 4 are closed, week 5 runs."""


def healthy(changed: dict[str, object] | None = None, *, since: int = 4) -> Fold:
    """Five closed weeks of a good judge, careful raters, gold items, quiet canaries; and the running week's start."""
    rng = random.Random()
    rows, state = good_weeks(since if changed else 5)
    rng.setstate(state)
    fold = Fold.restored(rows, watched=["new_item"])
    for number in range(since if changed else 5, 5):
        one_week(fold, number, rng, {**CAREFUL, **(changed or {})})
    add(fold, week(5, rng, drafts=50, labelled=0))
    return fold


@cache
def good_weeks(weeks: int) -> tuple[Mapping[str, bytes], tuple[Any, ...]]:
    """What a fold of the first weeks stores, and the random numbers' state after them: every specimen begins so."""
    rng, fold = random.Random(3), Fold(watched=["new_item"])
    if weeks:
        rows, state = good_weeks(weeks - 1)
        rng.setstate(state)
        fold = Fold.restored(rows, watched=["new_item"])
        one_week(fold, weeks - 1, rng, CAREFUL)
    return {name: row for name, row in fold.snapshot().items() if row is not None}, rng.getstate()


def one_week(fold: Fold, number: int, rng: random.Random, how: Mapping[str, object]) -> None:
    add(fold, week(number, rng, **how))  # type: ignore[arg-type]
    add(fold, gold(number, 0.95, rng))
    add(fold, [canary(2, at=in_week(number, 86_400 * day), first=4 * number + day) for day in range(2)])


def gold(number: int, accuracy: float, rng: random.Random, *, rater: str = "rater-0") -> list[Message]:
    said: list[Message] = []
    for i in range(40):
        item = f"gold-{number}-{i}"
        said.append(sampled(item, {"c1": "fail"}, week=number, kind="gold", known={"c1": "fail"}))
        said.append(vote(item, rater, "fail" if rng.random() < accuracy else "pass", kind="gold"))
    return said


def running(*said: Message) -> Callable[[], Fold]:
    def build() -> Fold:
        fold = healthy()
        add(fold, list(said))
        return fold

    return build


def drifting_rater() -> Fold:
    rng, fold = random.Random(3), Fold()
    for number in range(5):
        add(fold, week(number, rng, drafts=50, labelled=20))
        add(fold, gold(number, 0.95 if number < 4 else 0.5, rng))
    return fold


def missed_after_revision() -> Fold:
    fold = healthy()
    for i in range(120):
        add(fold, [sampled(f"late-{i}", week=4, stratum="served_after_revision", number=1)])
        add(fold, [vote(f"late-{i}", r, "fail" if i < 12 else "pass", number=1) for r in ("rater-0", "rater-1")])
    return fold


def lenient_for_weeks_then_worse_drafts() -> Fold:
    before = [week(n, random.Random(n), fails_flipped=0.5) for n in (2, 3)]
    return folded(*before, week(4, random.Random(4), fails_flipped=0.5, prevalence=0.75))


def dead_letters() -> Fold:
    fold = healthy()
    fold.dead_letter("assay.drafts", "not_json", at=NOW)
    return fold


def abandoned() -> Fold:
    fold = healthy()
    add(fold, [attempt(f"open-{i}", 0, {"c1": "fail"}, at=NOW) for i in range(10)])
    fold.abandon(before=NOW + timedelta(minutes=30))
    return fold


SPECIMENS: dict[AlertKind, Callable[[], Fold]] = {
    AlertKind.GENERATOR_REGRESSION: lambda: healthy({"prevalence": 0.5}),
    AlertKind.STRICTER_JUDGE: lambda: healthy({"passes_flipped": 0.15}),
    AlertKind.LENIENT_JUDGE: lambda: healthy({"fails_flipped": 0.4}),
    AlertKind.CANCELLING_CHANGES: lambda: healthy({"fails_flipped": 0.15, "passes_flipped": 0.065}, since=3),
    AlertKind.UNFIXABLE_INPUTS: lambda: healthy({"mended": 0.3}),
    AlertKind.VENDOR_CHANGE: running(canary(30, at=NOW)),
    AlertKind.AMPLIFIED_MISSES: missed_after_revision,
    AlertKind.BELOW_BAND: lenient_for_weeks_then_worse_drafts,
    AlertKind.SERVED_DEFECTS_ABOVE_CAP: lambda: healthy({"fails_flipped": 0.3}),
    AlertKind.PASS_RATE_JUMP: lambda: healthy({"prevalence": 0.1}),
    AlertKind.COVERAGE_LOW: running(*(attempt(f"a{i}", 0, {"c1": "abstain"}, at=NOW) for i in range(30))),
    AlertKind.RATER_DRIFT: drifting_rater,
    AlertKind.MODEL_MISMATCH: running(attempt("m", flags=[Flag.MODEL_MISMATCH], at=NOW)),
    AlertKind.CONFLICTING_DECISION: running(decided("x", at=NOW), decided("x", "dropped", 3, at=NOW)),
    AlertKind.RESTARTS: running(
        *(
            attempt(f"r{i}", 0, {"c1": "fail"}, restart=n, at=NOW + timedelta(seconds=n))
            for i in range(9)
            for n in (0, 1)
        )
    ),
    AlertKind.OPEN_ROUNDS: abandoned,
    AlertKind.CACHE_DOWN: running(*(attempt(f"c{i}", flags=[Flag.CACHE_DOWN], at=NOW) for i in range(5))),
    AlertKind.OVER_BUDGET: running(attempt("o", 0, {"c1": "abstain"}, causes={"c1": Cause.OVER_BUDGET}, at=NOW)),
    AlertKind.DEAD_LETTERS: dead_letters,
    AlertKind.WORDING_LEAKED: running(attempt("l", flags=[Flag.WORDING_LEAKED], at=NOW)),
}


@pytest.mark.parametrize("kind", list(AlertKind))
def test_a_kind_has_a_meaning_a_section_and_a_specimen_that_raises_it(kind: AlertKind) -> None:
    assert kind in MEANINGS
    assert f"\n## {kind}\n" in RUNBOOK
    assert str(kind) in fired(outcomes(SPECIMENS[kind](), now=NOW))


def test_healthy_weeks_raise_nothing() -> None:
    assert fired(outcomes(healthy(), now=NOW)) == set()


def test_what_cannot_be_computed_is_said_with_what_is_missing() -> None:
    found = outcomes(folded([attempt("a", at=NOW)]), now=NOW)
    missing = {str(o.kind): o.missing for o in found if isinstance(o, NoData)}
    assert missing["vendor_change"] == "canary runs"


def test_a_week_whose_labels_have_not_come_does_not_hide_the_one_before() -> None:
    """Week 4 has no labels yet: week 3 is looked at, in which the judge was too lenient."""
    rng, fold = random.Random(3), Fold()
    for number in range(5):
        how = {**CAREFUL, "labelled": 250 if number < 4 else 0, "fails_flipped": 0.4 if number == 3 else 0.0}
        add(fold, week(number, rng, **how))  # type: ignore[arg-type]
    assert not any(k.criterion.startswith(PANEL) for k in fold.cells.counts if k.pane == pane_of(in_week(4)))
    assert "lenient_judge" in fired(outcomes(fold, now=NOW))
