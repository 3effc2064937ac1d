"""The audit judge beside people, and hedging after revision: messages in, figures out."""

from __future__ import annotations

import pytest

from schemas.message import Message
from schemas.reports import Figure
from tests.workers.stats_consumer.said import BOM, MONDAY, attempt, sampled, vote
from tests.workers.stats_consumer.simulated import EXAMPLE, folded
from workers.stats_consumer.assurance import Assurance
from workers.stats_consumer.week import weeks_of
from workers.stats_consumer.weeks import pane_of


def figures(messages: list[Message]) -> dict[tuple[str, str], Figure]:
    weeks = weeks_of(folded(messages).cells)[BOM]
    read = Assurance(EXAMPLE).figures(weeks, pane_of(MONDAY))
    return {(f.name, ",".join(sorted(f.scope.values()))): f for f in read}


def audited(item: str, judge: str, people: str | None = None) -> list[Message]:
    """A served draft that the audit judge saw; with ``people`` it was drawn for them too."""
    said: list[Message] = [attempt(item, audit={"c1": judge})]
    if people is not None:
        said.append(sampled(item, kind="audit", audit={"c1": judge}))
        said += [vote(item, rater, people, kind="audit") for rater in ("ann", "bob")]
    return said


def week(labelled: dict[tuple[str, str], int], others: dict[str, int]) -> list[Message]:
    said: list[Message] = []
    for (judge, people), n in labelled.items():
        said += [m for i in range(n) for m in audited(f"{judge}-{people}-{i}", judge, people)]
    for judge, n in others.items():
        said += [m for i in range(n) for m in audited(f"{judge}-{i}", judge)]
    return said


def test_the_labels_correct_the_audit_judges_rate() -> None:
    """By hand: y = 6/50, f = 8/50 (5 in both); the other 200: 30/200. Estimate .15 + .12 - .16 = .11.

    Rectifier y - f is -1 three times, +1 once, 0 else: variance (4 - 50 x .04^2) / 49 = .08, over 50: .0016.
    Predictions: .15 x .85 / 199 = .000640704. se = sqrt(.002240704) = .047336; the interval is .11 -+ 1.95996 se.
    """
    labelled = {("fail", "fail"): 5, ("fail", "pass"): 3, ("pass", "fail"): 1, ("pass", "pass"): 41}
    read = figures(week(labelled, {"fail": 30, "pass": 170}))
    figure = read["prediction_powered_defect_rate", ""]
    assert figure.value == pytest.approx(0.11)
    assert figure.lo == pytest.approx(0.11 - 1.95996 * 0.047336, abs=1e-5)
    assert figure.hi == pytest.approx(0.11 + 1.95996 * 0.047336, abs=1e-5)
    assert figure.n == 50
    assert read["audit_judge_defect_rate", ""].value == pytest.approx(38 / 250)
    assert read["audited_defect_rate", ""].value == pytest.approx(6 / 50)  # Wilson, from the labels alone


def test_without_a_defect_among_the_labels_the_human_interval_stands_alone() -> None:
    """PPI's interval does not see rare defects there: it covered 60 % where 95 % was claimed."""
    read = figures(week({("pass", "pass"): 30}, {"fail": 5, "pass": 95}))
    assert read["prediction_powered_defect_rate", ""].value is None
    assert "all of one kind" in (read["prediction_powered_defect_rate", ""].reason or "")
    assert read["audited_defect_rate", ""].hi == pytest.approx(0.1135, abs=1e-4)  # Wilson, 0 of 30


@pytest.mark.parametrize(
    ("messages", "missing"),
    [
        ([attempt("a")], "an audit judge's verdicts"),
        (audited("a", "pass"), "assay sample --audit"),
        ([attempt("a"), *audited("a", "pass", "pass")[1:]], "an audit judge's verdicts"),
        ([attempt("b", audit={"c1": "pass"}), *audited("a", "fail", "fail")[1:]], "attempt records"),
    ],
)
def test_what_is_missing_is_said(messages: list[Message], missing: str) -> None:
    figure = figures(messages)["prediction_powered_defect_rate", ""]
    assert figure.value is None
    assert missing in (figure.reason or "")


def test_an_audit_judge_that_does_not_decide_counts_on_neither_side() -> None:
    read = figures([*audited("a", "abstain", "fail"), *audited("b", "pass", "pass"), *audited("c", "fail")])
    assert read["audit_judge_defect_rate", ""].n == 2


def test_revised_texts_that_hedge_more_show_as_a_rise() -> None:
    """Newcombe (1998), method 10, his own example: 56/70 against 48/80 is .2 (.0524 to .3339)."""
    said = [attempt("a", 0, hedging=(48, 80)), attempt("b", 1, hedging=(50, 60)), attempt("c", 2, hedging=(6, 10))]
    read = figures([*said, attempt("d", 0, {"c1": "fail"})])
    assert read["hedging_rate", "first"].value == pytest.approx(0.6)
    assert read["hedging_rate", "revised"].value == pytest.approx(0.8)
    rise = read["hedging_rise", ""]
    assert (rise.value, rise.lo, rise.hi) == pytest.approx((0.2, 0.0524, 0.3339), abs=1e-4)


def test_uncounted_hedging_is_unavailable_and_says_which_setting_counts_it() -> None:
    assert "ASSAY_HEDGING_WORDS" in (figures([attempt("a")])["hedging_rise", ""].reason or "")
