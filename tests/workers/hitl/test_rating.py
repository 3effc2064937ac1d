"""Raters against raters, and against what is known."""

from __future__ import annotations

import pytest

from schemas.labels import HumanVote
from stats.alpha import krippendorff_alpha
from stats.proportions import Proportion
from stats.unavailable import Unavailable, available
from tests.workers.hitl.test_life import AT, DONT, FAIL, PASS, TASK, vote
from tests.workers.hitl.test_tasks import gold
from workers.hitl.life import Stage
from workers.hitl.rating import agreement, gold_accuracy, lives


def test_two_raters_have_kappa_with_raw_agreement_and_prevalence_beside():
    # By hand: 8 items, both pass 4, both fail 2, split 2. p_o 6/8; marginals fail 3/8 each: p_e 34/64; kappa 7/15.
    said = [(PASS, PASS)] * 4 + [(FAIL, FAIL)] * 2 + [(PASS, FAIL), (FAIL, PASS)]
    found = agreement([[vote(1, a), vote(2, b)] for a, b in said])
    assert (found.measure, found.items, found.raters) == ("kappa", 8, 2)
    assert found.raw == pytest.approx(6 / 8)
    assert found.fails == pytest.approx(6 / 16)
    assert found.value == pytest.approx(7 / 15)
    assert available(found.lo)
    assert available(found.hi)
    assert found.lo < 7 / 15 < found.hi


def test_three_raters_have_alpha_and_cannot_tell_is_a_missing_rating():
    said = [(PASS, PASS, PASS)] * 6 + [(FAIL, FAIL, DONT)] * 3 + [(PASS, FAIL, FAIL)]
    found = agreement([[vote(k, one) for k, one in enumerate(item)] for item in said])
    columns = [[None if item[k] is DONT else str(item[k]) for item in said] for k in range(3)]
    assert (found.measure, found.cannot_tell) == ("alpha", 3)
    assert found.value == pytest.approx(krippendorff_alpha(columns))


def test_raters_who_all_say_the_same_are_uninformative_and_not_perfect():
    found = agreement([[vote(1, PASS), vote(2, PASS)]] * 5)
    assert isinstance(found.value, Unavailable)
    assert found.raw == 1.0


def test_without_votes_every_number_is_unavailable():
    found = agreement([])
    assert all(isinstance(value, Unavailable) for value in (found.raw, found.fails, found.value, found.lo, found.hi))


def test_gold_items_measure_raters_and_other_items_do_not():
    known = gold()  # fail on c1_spec_accuracy
    common = {"task_id": known.task.task_id, "criterion_id": "c1_spec_accuracy"}
    votes = [vote(1, FAIL, **common), vote(2, PASS, **common), vote(3, DONT, **common), vote(1, PASS)]
    found = gold_accuracy(votes, {known.task.task_id: known.sampled})
    assert {rater: (p.x, p.m) for rater, p in found.items() if isinstance(p, Proportion)} == {
        "r-1": (1, 1),
        "r-2": (0, 1),
    }


def test_every_criterion_of_every_task_has_a_life():
    found = lives([TASK], [vote(1, HumanVote.PASS, criterion_id=TASK.criteria[0], labelled_at=AT)])
    assert {key: one.stage for key, one in found.items()} == {
        (TASK.task_id, TASK.criteria[0]): Stage.ONE_VOTE,
        (TASK.task_id, TASK.criteria[1]): Stage.UNLABELLED,
        (TASK.task_id, TASK.criteria[2]): Stage.UNLABELLED,
    }
