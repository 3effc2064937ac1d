from __future__ import annotations

from tests.workers.stats_consumer.said import BOM, MONDAY, attempt
from tests.workers.stats_consumer.simulated import folded
from workers.stats_consumer.generator_health import generator_figures
from workers.stats_consumer.week import weeks_of
from workers.stats_consumer.weeks import pane_of


def test_an_attempt_that_nobody_made_has_no_pass_rate() -> None:
    fold = folded([attempt("a"), attempt("b", 0, {"c1": "fail"}), attempt("b", 1)])
    week = weeks_of(fold.cells)[BOM][pane_of(MONDAY)]
    curve = [
        (figure.scope["attempt"], figure.value, figure.reason)
        for figure in generator_figures(week, retry_budget=3)
        if figure.name == "cumulative_pass_rate" and figure.scope.get("slice") == "all"
    ]
    untried = "no draft of attempt {} was judged"
    # One of two passes at once, the other one after a revision.
    assert curve == [
        ("0", 0.5, None),
        ("1", 1.0, None),
        ("2", None, untried.format(2)),
        ("3", None, untried.format(3)),
    ]
