"""The band check over many weeks: how often it cries wolf, and how often it sees a worse judge."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest

from stats.persistence import Run
from stats.synthetic import synthetic_week
from stats.unavailable import Unavailable
from workers.stats_consumer.band_check import BandCheck, band_checks, fixed_panel
from workers.stats_consumer.cells import PANEL, PanelItem, Reasons
from workers.stats_consumer.rules import DEFAULT_RULES
from workers.stats_consumer.week import Week

CRITERIA, SLICES = ("c1", "c2", "c3"), ("all", "new_item")


CLAUSES = ("G-1", "G-2")
QUICK = DEFAULT_RULES._replace(resamples=400)
"""The share of resamples is only compared with a half: fewer of them move no rate of many weeks."""


def panel_cells(judge: Sequence[str], panel: Sequence[Sequence[str]], rng: random.Random | None = None) -> Counter[str]:
    """With ``rng`` everybody names a clause beside each fail, the true one nine times in ten."""
    names = [f"rater-{i}" for i in range(len(panel))]
    cells: Counter[str] = Counter()
    for said, *votes in zip(judge, *panel, strict=True):
        reasons = None
        if rng is not None:
            own, *given = [CLAUSES[rng.random() < 0.1] if vote == "fail" else None for vote in (said, *votes)]
            cast = [clause for clause in given if clause]
            known = max(CLAUSES, key=cast.count) if len(cast) >= 2 and 2 * cast.count(cast[0]) != len(cast) else None
            reasons = Reasons(known, own, tuple((name, c) for name, c in zip(names, given, strict=True) if c))
        cells[PanelItem(said, 1.0, tuple(zip(names, votes, strict=True)), None, reasons).cell()] += 1
    return cells


def labelled_week(seed: int) -> Week:
    """300 items a criterion, 40 % bad, three raters of 0.87: the setting of S2 6.4. A third of the items is new."""
    week, rng = Week("bom-1", 100_000 + seed), random.Random(seed)
    for i, criterion in enumerate(CRITERIA):
        judge, panel = synthetic_week(seed=1000 * i + seed)
        new = panel_cells(judge[:100], [votes[:100] for votes in panel], rng)
        rest = panel_cells(judge[100:], [votes[100:] for votes in panel], rng)
        week.put(PANEL + criterion, "all", "served_first_pass", dict(new + rest))
        week.put(PANEL + criterion, "new_item", "served_first_pass", dict(new))
    return week


@pytest.fixture(scope="module")
def healthy() -> list[list[BandCheck]]:
    return [band_checks(labelled_week(seed), QUICK) for seed in range(200)]


def test_a_healthy_judge_is_told_to_be_below_in_about_four_percent_of_checks(healthy: list[list[BandCheck]]) -> None:
    """4.3 % is the rule's rate (width 2.0, share 0.5), over 18 checks: three criteria, metrics and two slices.

    The slice of new items rests on 100 items; the checks of a week overlap, so the bounds are wide.
    """
    said = [check.below for week in healthy for check in week]
    assert len(said) == 200 * 18
    assert None not in said
    assert 0.02 <= sum(map(bool, said)) / len(said) <= 0.065


def test_two_weeks_in_a_row_are_hardly_ever_chance(healthy: list[list[BandCheck]]) -> None:
    """0.043 squared is 0.2 % of checks; the configured persistence is two weeks."""
    runs: dict[tuple[str, ...], Run] = {}
    lasting = 0
    for week in healthy:
        for check in week:
            key = tuple(check.scope.values())
            runs[key] = runs.get(key, Run()).after(check.below)
            lasting += runs[key].length >= DEFAULT_RULES.weeks
    assert lasting <= 0.01 * 200 * 18


def test_a_judge_of_three_quarters_is_seen_as_often_as_the_table_says() -> None:
    """Width 2.0 and share 0.5 catch it in 68.5 % of weeks (2,000 simulated); 200 weeks leave 3.3 points of noise."""
    seen = []
    for seed in range(200):
        week = Week("bom-1", 100_000 + seed)
        cells = panel_cells(*synthetic_week(seed=seed, judge_acc=0.75))
        week.put(PANEL + "c1", "all", "served_first_pass", dict(cells))
        seen += [c.below for c in band_checks(week, QUICK) if c.metric == "specificity"]
    assert sum(map(bool, seen)) / len(seen) == pytest.approx(0.685, abs=0.09)


def test_too_few_labels_are_said_with_what_is_missing() -> None:
    week = Week("bom-1", 1)
    judge, panel = synthetic_week(n=12, prevalence=0.0, seed=1, rater_acc=(1.0, 1.0, 1.0))
    week.put(PANEL + "c1", "all", "served_first_pass", panel_cells(judge, panel))
    spec = next(c for c in band_checks(week, DEFAULT_RULES) if c.metric == "specificity")
    assert spec.band == Unavailable("10 more labelled items that people fail")
    assert spec.below is None


def test_a_week_without_a_third_rater_has_no_band() -> None:
    item = PanelItem("pass", 1.0, (("ann", "pass"), ("bob", "pass")), None)
    assert fixed_panel([("s", item, 50)], DEFAULT_RULES) == Unavailable("no item has three raters yet")


def test_one_panel_with_a_stand_in_now_and_then_is_fixed() -> None:
    ours = PanelItem("pass", 1.0, (("ann", "pass"), ("bob", "pass"), ("cleo", "fail")), None)
    theirs = ours._replace(votes=(("ann", "pass"), ("bob", "pass"), ("dan", "fail")))
    assert fixed_panel([("s", ours, 90), ("s", theirs, 10)], DEFAULT_RULES) == ("ann", "bob", "cleo")
    rotating = fixed_panel([("s", ours, 50), ("s", theirs, 50)], DEFAULT_RULES)
    assert isinstance(rotating, Unavailable)
    assert rotating.reason.startswith("rotating panel: 4 raters")
