"""Every figure finds its place."""

from __future__ import annotations

from collections import Counter

import pytest

from schemas.reports import Figure, Health
from tests.workers.report.specimens import WEEK, example, figure, labels, page_of, report
from workers.report.page import Line, Unit
from workers.report.panels import panels
from workers.report.words import written


def _key(one: Figure | Line, name: str) -> tuple[str, tuple[tuple[str, str], ...], float | None]:
    return name, tuple(sorted(one.scope.items())), one.value


@pytest.mark.parametrize("health", list(Health))
def test_no_published_figure_is_lost_or_shown_twice(health: Health) -> None:
    (published,) = example().of_week(WEEK).values()
    figures = [f for f in published.figures if f.health is health]
    shown = Counter(_key(line, line.figure) for panel in panels(health, figures) for line in panel.lines)
    del shown["cost_usd", (), next((v for n, s, v in shown if n == "cost_usd"), None)]
    quiet = {panel.note for panel in panels(health, figures) if panel.id == "flags"}
    expected = Counter(
        _key(f, f.name) for f in figures if not (f.value == 0 and f.name.replace("_", " ") in str(quiet))
    )
    assert shown == expected


def test_a_figure_that_no_panel_asks_for_is_shown_at_the_end() -> None:
    page = page_of(report(figure("made_up_tomorrow", 0.3)))
    assert labels(page, Health.GENERATOR, "further") == ["made up tomorrow"]


def test_the_cost_of_the_week_is_that_of_an_attempt_times_the_attempts() -> None:
    cost = figure("cost_usd_per_attempt", 0.002, health=Health.JUDGE, n=500, scope={})
    (panel,) = [p for p in panels(Health.JUDGE, [cost]) if p.id == "cost"]
    assert written(panel.lines[0].value, Unit.USD) == "$1.00"


def test_an_unknown_cost_is_never_a_sum() -> None:
    cost = figure("cost_usd_per_attempt", None, health=Health.JUDGE, reason="set a price table", n=0, scope={})
    (panel,) = [p for p in panels(Health.JUDGE, [cost]) if p.id == "cost"]
    assert [line.reason for line in panel.lines] == ["set a price table"]


@pytest.mark.parametrize("attempt", ["all", "²", "-1", "1" * 400, "x"])
def test_an_attempt_that_is_no_number_has_no_place_on_a_curve(attempt: str) -> None:
    odd = figure("cumulative_pass_rate", scope={"slice": "all", "attempt": attempt})
    (panel,) = [p for p in panels(Health.GENERATOR, [odd]) if p.id == "pass-curve"]
    assert panel.lines[0].at is None


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.954, Unit.SHARE, "95.4%"), (0.0042, Unit.SHARE, "0.42%"), (0.0, Unit.SHARE, "0.0%"),
        (-0.034, Unit.POINTS, "-3.4 pt"), (1234.4, Unit.MILLISECONDS, "1,234 ms"), (0.00132, Unit.USD, "$0.00132"),
        (12.345, Unit.USD, "$12.35"), (41.0, Unit.COUNT, "41"), (None, Unit.SHARE, "–"), (1.4715, Unit.NUMBER, "1.472"),
    ],
)  # fmt: skip
def test_values_are_written_in_their_unit(value: float | None, unit: Unit, text: str) -> None:
    assert written(value, unit) == text
