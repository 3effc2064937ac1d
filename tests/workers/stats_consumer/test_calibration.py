"""How sure the judge was against how often it was right: from messages to the error and its value by chance."""

from __future__ import annotations

import random

import pytest

from schemas.message import Message
from schemas.reports import Figure
from tests.workers.stats_consumer.said import BOM, MONDAY, attempt, sampled, vote
from tests.workers.stats_consumer.simulated import folded
from workers.stats_consumer.calibration import calibration_figures
from workers.stats_consumer.week import weeks_of
from workers.stats_consumer.weeks import pane_of


def item(name: str, said: str, sure: float | None, truth: str) -> list[Message]:
    confidence = None if sure is None else {"c1": sure}
    votes = [vote(name, rater, truth) for rater in ("ann", "bob")]
    return [attempt(name, labels={"c1": said}), sampled(name, {"c1": said}, confidence=confidence), *votes]


def figures(messages: list[Message]) -> dict[str, Figure]:
    week = weeks_of(folded(messages).cells)[BOM][pane_of(MONDAY)]
    return {figure.name: figure for figure in calibration_figures(week)}


def test_the_error_is_the_one_of_a_hand_calculation() -> None:
    """Ten at .95, eight right: |.8 - .95| = .15. Ten at .65, seven right: .05. Halves: .10 (Guo 2017, eq. 3)."""
    said = [m for i in range(10) for m in item(f"a{i}", "fail", 0.95, "fail" if i < 8 else "pass")]
    said += [m for i in range(10) for m in item(f"b{i}", "pass", 0.65, "pass" if i < 7 else "fail")]
    read = figures(said)
    assert read["calibration_error"].value == pytest.approx(0.10)
    assert read["calibration_error"].n == 20


def test_an_overconfident_judge_is_above_what_chance_shows_and_a_calibrated_one_is_not() -> None:
    """One seed in twenty is above by construction; .075 is the 95 % point of a simulation at n = 300 and 15 bins."""
    rng = random.Random(5)
    sure = [rng.uniform(0.5, 1.0) for _ in range(300)]
    honest = [m for i, p in enumerate(sure) for m in item(f"a{i}", "pass", p, "pass" if rng.random() < p else "fail")]
    boastful = [m for i in range(300) for m in item(f"b{i}", "pass", 0.99, "pass" if rng.random() < 0.8 else "fail")]
    for said, above in ((honest, False), (boastful, True)):
        read = figures(said)
        error, chance = read["calibration_error"].value, read["calibration_error_by_chance"].value
        assert error is not None
        assert chance is not None
        assert (error > chance) is above
        assert above or chance == pytest.approx(0.075, abs=0.005)


def test_verdicts_of_unknown_probability_and_unlabelled_ones_are_left_out() -> None:
    alone = [attempt("c"), sampled("c", confidence={"c1": 0.9}), vote("c", "ann", "pass")]
    read = figures([*item("a", "pass", None, "pass"), *item("b", "pass", 1.0, "pass"), *alone])
    assert (read["calibration_error"].value, read["calibration_error"].n) == (0.0, 1)


def test_without_any_the_figure_says_how_to_get_them() -> None:
    assert "logprobs" in (figures(item("a", "pass", None, "pass"))["calibration_error"].reason or "")
