"""Reasoning agreement: the clause that people name against the clause that the judge fails for (S2 3.2)."""

from __future__ import annotations

import random

import pytest

from schemas.message import Message
from schemas.reports import Figure
from tests.workers.stats_consumer.said import BOM, MONDAY, attempt, in_week, sampled, vote
from tests.workers.stats_consumer.simulated import EXAMPLE, add, fired, folded, outcomes
from workers.stats_consumer.assurance import Assurance
from workers.stats_consumer.band_check import band_checks
from workers.stats_consumer.fold import Fold
from workers.stats_consumer.rules import DEFAULT_RULES
from workers.stats_consumer.week import weeks_of
from workers.stats_consumer.weeks import pane_of

CLAUSES = ("G-1.1", "G-1.2", "G-2.1")


def item(name: str, judge: str | None, people: list[str | None], *, week: int = 0) -> list[Message]:
    """Everybody's clause; None passes the text."""
    label = {"c1": "fail" if judge else "pass"}
    clauses = {"c1": judge} if judge else {}
    said: list[Message] = [attempt(name, labels=label, at=in_week(week))]
    said.append(sampled(name, label, week=week, clauses=clauses, stratum="dropped" if judge else "served_first_pass"))
    for number, clause in enumerate(people):
        given = "fail" if clause else "pass"
        said.append(vote(name, f"rater-{number}", given, clause=clause, at=in_week(week + 1)))
    return said


def figures(messages: list[Message]) -> dict[tuple[str, str], Figure]:
    read = Assurance(EXAMPLE).figures(weeks_of(folded(messages).cells)[BOM], pane_of(MONDAY))
    return {(f.name, ",".join(sorted(f.scope.values()))): f for f in read}


def test_only_a_fail_for_the_same_clause_agrees() -> None:
    """Four human fails of a known clause: same clause, another clause, missed, failed without a clause: 1 of 4."""
    told: list[Message] = [
        *item("same", "G-1.1", ["G-1.1", "G-1.1", None]),
        *item("other", "G-1.2", ["G-1.1", "G-1.1", "G-1.1"]),
        *item("missed", None, ["G-1.1", "G-1.1", None]),
        *item("split", "G-1.1", ["G-1.1", "G-1.2", None]),  # people agree on no clause
        *item("fine", None, [None, None, None]),
        *item("refused", "G-1.1", [None, None, "G-1.1"]),
    ]
    told += [attempt("bare", labels={"c1": "fail"}), sampled("bare", {"c1": "fail"})]
    told += [vote("bare", rater, "fail", clause="G-2.1") for rater in ("rater-0", "rater-1")]
    read = figures(told)["reasoning_agreement", "all,c1"]
    assert (read.value, read.n) == (0.25, 4)


def test_the_adjudicators_clause_outweighs_the_votes() -> None:
    told = item("a", "G-1.2", ["G-1.1", "G-1.1", None])
    told.append(vote("a", "chief", "fail", clause="G-1.2", stage="adjudicated"))
    assert figures(told)["reasoning_agreement", "all,c1"].value == 1.0


def test_a_corrected_clause_counts_instead_of_the_old_one_in_any_order() -> None:
    told = item("a", "G-1.2", ["G-1.1", "G-1.1", None])
    told += [vote("a", f"rater-{i}", "fail", clause="G-1.2", version=1) for i in (0, 1)]
    rng = random.Random(1)
    for _ in range(10):
        rng.shuffle(told)
        assert figures(told)["reasoning_agreement", "all,c1"].value == 1.0


def test_labels_without_clauses_leave_it_unavailable_with_what_is_missing() -> None:
    told = [attempt("a", labels={"c1": "fail"}), sampled("a", {"c1": "fail"}, clauses={"c1": "G-1.1"})]
    told += [vote("a", rater, "fail") for rater in ("ann", "bob")]
    read = figures(told)["reasoning_agreement", "all,c1"]
    assert read.value is None
    assert "clause" in (read.reason or "")


def labelled_week(number: int, rng: random.Random, *, judge_right: float) -> list[Message]:
    """120 bad texts that everybody fails; raters name the true clause nine times in ten, the judge as given."""

    def named(truth: str, right: float) -> str:
        return truth if rng.random() < right else rng.choice([c for c in CLAUSES if c != truth])

    truths = [rng.choice(CLAUSES) for _ in range(120)]
    return [
        message
        for i, truth in enumerate(truths)
        for message in item(f"w{number}-{i}", named(truth, judge_right), [named(truth, 0.9)] * 0
                            + [named(truth, 0.9) for _ in range(3)], week=number)
    ]  # fmt: skip


@pytest.mark.parametrize(("right", "raised"), [(0.9, False), (0.4, True)])
def test_a_judge_that_fails_texts_for_other_reasons_is_told_after_two_weeks(right: float, raised: bool) -> None:
    rng, fold = random.Random(5), Fold()
    for number in range(4):
        add(fold, labelled_week(number, rng, judge_right=right if number >= 2 else 0.9))
    found = [o for o in outcomes(fold, now=in_week(4)) if o.scope.get("metric") == "reasoning_agreement"]
    assert bool(fired(found)) is raised
    checks = band_checks(weeks_of(fold.cells)[BOM][pane_of(in_week(3))], DEFAULT_RULES)
    band = next(c for c in checks if (c.metric, c.slice) == ("reasoning_agreement", "all"))
    assert band.below is raised
