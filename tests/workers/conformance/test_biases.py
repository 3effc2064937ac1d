from __future__ import annotations

from typing import Any

import pytest

from stats.biases import FamilyGap, PositionFlip
from stats.length_bias import Slope
from stats.unavailable import Unavailable
from tests.data import data_rows
from workers.conformance.biases import (
    FamilyRow,
    hedging,
    length,
    pairs_by_judge,
    position,
    self_preference,
    wordiness,
)
from workers.conformance.pairs import PairRun

# Outright reversals, and any flip, as the data's own description states them.
REVERSALS = {"gpt-4": 0.144, "gpt-3.5-turbo": 0.084, "claude": 0.310, "bard": 0.593, "vicuna-13b": 0.593}


def test_recorded_judges_have_the_reversal_rates_that_are_known_of_them() -> None:
    runs = pairs_by_judge(data_rows("pairwise_vicuna80.jsonl"))
    found: dict[str, PositionFlip] = {judge: position(of, of=judge).value for judge, of in runs.items()}
    for judge, reversal in REVERSALS.items():
        assert found[judge].reversal_rate == pytest.approx(reversal, abs=6e-4), judge
    assert found["vicuna-13b"].flip_rate == pytest.approx(0.626, abs=6e-4)


def test_a_tie_against_a_winner_is_a_flip_and_no_reversal() -> None:
    value: PositionFlip = position([PairRun("p", "A", "TIE")], of="judge").value
    assert (value.flip_rate, value.reversal_rate) == (1.0, 0.0)


def test_a_recorded_word_off_the_menu_is_an_abstain() -> None:
    rows = [{"judges": [{"model": "m", "AB": "Neither", "BA": None}]}]
    assert pairs_by_judge(rows) == {"m": [PairRun("1", "abstain", "abstain")]}


def test_recorded_scores_have_a_slope_on_log_length_with_its_interval() -> None:
    e = 2.718281828459045
    value: Any = length([(1.0, 100), (2.0, round(100 * e)), (3.0, round(100 * e**2))], of="recorded")
    scored: Slope = value.value
    assert scored.slope == pytest.approx(1.0, abs=0.01)
    assert scored.lo < scored.slope < scored.hi
    assert isinstance(length([(1.0, 10)], of="recorded").value, Unavailable)


def test_leniency_towards_the_own_family_is_a_gap_in_false_passes() -> None:
    # own family: 56 of 70 human fails passed, others 48 of 80; Newcombe (1998): 0.2, 0.0524 to 0.3339
    rows = [FamilyRow("gen-a@1", "pass" if at < 56 else "fail", "fail") for at in range(70)]
    rows += [FamilyRow("other-1", "pass" if at < 48 else "fail", "fail") for at in range(80)]
    rows += [FamilyRow(None, "pass", "fail")] * 50  # of unknown origin: left out
    value: Any = self_preference(rows, family="gen", families=["other"], of="c").value
    gap: FamilyGap = value.false_pass
    assert (gap.gap, gap.lo, gap.hi) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)
    assert isinstance(value.false_fail, Unavailable)


def test_a_revision_that_takes_statements_back_shows_as_a_gap_in_hedging() -> None:
    first = ["It boils a litre in four minutes."] * 40
    revised = ["It may boil about a litre, usually in perhaps four minutes or so."] * 40
    shift = hedging(first, revised)
    assert isinstance(shift.gap, FamilyGap)
    assert shift.gap.lo > 0
    assert shift.words_per_text == (7.0, 13.0)
    assert wordiness(["It MAY boil, perhaps."]) == (1, 4, 2)


def test_without_revised_texts_there_is_no_gap() -> None:
    shift = hedging(["It boils."], [])
    assert shift.gap == Unavailable("no word in texts after revision")
    assert isinstance(shift.words_per_text, Unavailable)
