"""From no vote to gold: who counts, what needs an adjudicator, what the provenance says; and corrections."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from schemas.labels import HumanLabel, HumanVote, LabelStage
from tests.workers.hitl.test_tasks import asked
from workers.hitl.life import Gold, Life, Stage, life_of
from workers.hitl.merging import merged, newest

TASK = asked().task
AT = datetime(2026, 12, 7, 9, tzinfo=UTC)
PASS, FAIL, DONT = HumanVote.PASS, HumanVote.FAIL, HumanVote.CANNOT_TELL


def vote(rater: int, said: HumanVote, **more: object) -> HumanLabel:
    return HumanLabel.model_validate(
        {
            "item_id": TASK.item_id,
            "task_id": TASK.task_id,
            "criterion_id": "c1",
            "rater_id": f"r-{rater}",
            "vote": said,
            "rationale": "G-1.1" if said is FAIL else None,
            "guideline_version": "2026.11.1",
            "labelled_at": AT + timedelta(minutes=rater),
            **more,
        }
    )


def life(*labels: HumanLabel) -> Life:
    found = [life_of(TASK, "c1", order) for order in itertools.islice(itertools.permutations(labels), 24)]
    assert all(one == found[0] for one in found)  # whatever the order of arrival
    return found[0]


@pytest.mark.parametrize(
    ("said", "stage"),
    [
        ((), Stage.UNLABELLED),
        ((PASS,), Stage.ONE_VOTE),
        ((PASS, PASS), Stage.DOUBLE_ANNOTATED),
        ((PASS, FAIL), Stage.DOUBLE_ANNOTATED),
        ((PASS, PASS, PASS), Stage.AGREED),
        ((PASS, PASS, FAIL), Stage.NEEDS_ADJUDICATION),
        ((PASS, PASS, DONT), Stage.NEEDS_ADJUDICATION),
        ((DONT, DONT, DONT), Stage.NEEDS_ADJUDICATION),
    ],
)
def test_the_stages_with_three_raters_wanted(said: tuple[HumanVote, ...], stage: Stage):
    found = life(*(vote(k, one) for k, one in enumerate(said)))
    assert found.stage is stage
    assert (found.gold is not None) == (stage is Stage.AGREED)


def test_gold_by_agreement_names_its_annotators():
    assert life(vote(2, FAIL), vote(1, FAIL), vote(3, FAIL)).gold == Gold(
        FAIL, ("r-1", "r-2", "r-3"), None, "2026.11.1", edited=False
    )


def test_an_adjudicator_settles_what_raters_do_not():
    word = vote(9, FAIL, stage=LabelStage.ADJUDICATED)
    found = life(vote(1, PASS), vote(2, FAIL), vote(3, PASS), word)
    assert found.stage is Stage.ADJUDICATED
    assert found.gold == Gold(FAIL, ("r-1", "r-2", "r-3"), "r-9", "2026.11.1", edited=False)


def test_one_opinion_is_never_gold_not_even_an_adjudicators():
    assert life(vote(9, FAIL, stage=LabelStage.ADJUDICATED)).gold is None
    assert life(vote(1, PASS), vote(9, FAIL, stage=LabelStage.ADJUDICATED)).stage is Stage.ONE_VOTE
    one_wanted = TASK.model_copy(update={"raters_wanted": 1})
    assert life_of(one_wanted, "c1", [vote(1, PASS)]).gold is None


def test_an_adjudicator_who_cannot_tell_has_settled_nothing():
    word = vote(9, DONT, stage=LabelStage.ADJUDICATED)
    assert life(vote(1, PASS), vote(2, FAIL), vote(3, PASS), word).stage is Stage.NEEDS_ADJUDICATION


def test_exactly_the_wanted_votes_count_and_the_later_ones_are_marked():
    found = life(vote(1, PASS), vote(2, PASS), vote(3, PASS), vote(4, FAIL))
    assert found.stage is Stage.AGREED
    assert [one.rater_id for one in found.extra] == ["r-4"]


def test_a_correction_keeps_its_raters_place_and_marks_the_gold_as_edited():
    corrected = vote(1, FAIL, version=1, edited=True, labelled_at=AT + timedelta(days=1))
    found = life(vote(1, PASS), vote(2, FAIL), vote(3, FAIL), vote(4, PASS), corrected)
    assert [one.rater_id for one in found.extra] == ["r-4"]
    assert found.gold is not None
    assert (found.gold.vote, found.gold.edited) == (FAIL, True)


def test_a_retracted_vote_makes_room_for_the_next_rater():
    back = vote(1, PASS, version=1, retracted=True)
    found = life(vote(1, PASS), vote(2, FAIL), vote(3, FAIL), vote(4, FAIL), back)
    assert [one.rater_id for one in found.counted] == ["r-2", "r-3", "r-4"]


def test_votes_under_two_guideline_versions_are_two_standards():
    found = life(vote(1, PASS), vote(2, PASS), vote(3, PASS, guideline_version="2026.12.1"))
    assert found.stage is Stage.NEEDS_ADJUDICATION


def test_other_tasks_and_criteria_are_passed_over():
    assert life(vote(1, PASS, criterion_id="c2"), vote(1, PASS, task_id="another")).stage is Stage.UNLABELLED


def test_the_same_words_again_change_nothing_and_others_are_a_correction():
    known = vote(1, PASS)
    assert merged(vote(1, PASS, labelled_at=AT + timedelta(days=2)), known) is None
    corrected = merged(vote(1, FAIL), known)
    assert corrected is not None
    assert (corrected.version, corrected.edited, corrected.vote) == (1, True, FAIL)
    assert merged(vote(1, FAIL), corrected) is None
    assert merged(vote(1, PASS), None) == known


def test_the_highest_version_is_the_newest_whatever_came_last():
    first, second = vote(1, PASS), vote(1, FAIL, version=1)
    assert list(newest([second, first]).values()) == list(newest([first, second, first]).values()) == [second]
