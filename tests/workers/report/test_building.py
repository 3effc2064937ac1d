"""One page from what is published: states of a week, alerts as they stood, what changed, the canary strip."""

from __future__ import annotations

from datetime import timedelta

import pytest

from schemas.reports import Health
from schemas.verdict_space import Label
from tests.workers.report.specimens import (
    BEFORE,
    MONDAY,
    NOW,
    WEEK,
    alert,
    days,
    example,
    example_page,
    figure,
    page_of,
    report,
)
from tests.workers.stats_consumer.said import canary
from workers.report.building import build
from workers.report.page import Condition


def test_a_week_without_figures_says_which_weeks_have_some() -> None:
    page = page_of(report(week=BEFORE))
    assert page.series == ()
    assert page.weeks_published == (BEFORE,)
    assert not page.final


@pytest.mark.parametrize("week", ["2026-W54", "2026-48", "", "W", "2026-W00"])
def test_a_week_that_its_year_does_not_have_is_refused(week: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whichever part cannot be read
        page_of(report(), week=week)


def test_a_week_is_final_when_every_series_of_it_is() -> None:
    assert page_of(report(final=True)).final
    assert not page_of(report(final=True), report(bom="bom-2")).final


def test_two_boms_are_two_series_the_one_that_judged_most_first() -> None:
    page = page_of(report(figure(n=10)), report(figure(n=90), bom="bom-2"))
    assert [(s.bom_version, s.first_drafts) for s in page.series] == [("bom-2", 90), ("bom-1", 10)]


def test_alerts_are_those_that_stood_with_what_was_resolved_since_the_week_began() -> None:
    page = page_of(
        report(),
        alert("lenient_judge", at=NOW - days(3)),
        alert("below_band", at=NOW - days(3)),
        alert("below_band", "resolved", at=NOW - days(1)),
        alert("restarts", "resolved", at=MONDAY - days(1)),
        alert("rater_drift", "no_data", at=NOW - days(2), severity="info"),
        alert("vendor_change", at=NOW + days(1)),
    )
    assert [(str(a.kind), str(a.state)) for a in page.alerts] == [
        ("lenient_judge", "firing"), ("rater_drift", "no_data"), ("below_band", "resolved"),
    ]  # fmt: skip


def test_an_old_week_shows_the_alerts_of_the_week_after_it_not_of_today() -> None:
    told = [alert("lenient_judge", at=MONDAY + days(9)), alert("vendor_change", at=MONDAY + days(30))]
    page = page_of(report(), *told, now=MONDAY + days(60))
    assert [str(a.kind) for a in page.alerts] == ["lenient_judge"]
    assert page.alerts_as_of == MONDAY + days(14)


def test_urgent_alerts_come_first() -> None:
    page = page_of(report(), alert("restarts", severity="ticket"), alert("vendor_change"))
    assert [str(a.kind) for a in page.alerts] == ["vendor_change", "restarts"]


def test_an_alert_colours_its_own_health_alone() -> None:
    page = page_of(report(), alert("lenient_judge"))
    conditions = {s.health: s.condition for s in page.series[0].sections}
    assert conditions[Health.JUDGE] is Condition.ATTENTION
    assert conditions[Health.GENERATOR] is Condition.CALM


def test_an_alert_colours_its_own_bom_version_alone_and_one_of_no_version_all() -> None:
    page = page_of(
        report(figure(n=90)), report(figure(n=10), bom="bom-2"),
        alert("lenient_judge", bom="bom-2"), alert("dead_letters", bom=""),
    )  # fmt: skip
    conditions = [{s.health: s.condition for s in series.sections} for series in page.series]
    assert [of[Health.JUDGE] for of in conditions] == [Condition.UNKNOWN, Condition.ATTENTION]
    assert [of[Health.GENERATOR] for of in conditions] == [Condition.ATTENTION, Condition.ATTENTION]
    assert [len(page.firing_about(bom, Health.JUDGE)) for bom in ("bom-1", "bom-2")] == [0, 1]
    assert page.several_versions


def test_a_figure_has_moved_when_the_two_intervals_do_not_touch() -> None:
    apart, touching = figure(value=0.8, lo=0.75, hi=0.85), figure("dropped_rate", 0.5, lo=0.4, hi=0.6)
    before = figure(value=0.6, lo=0.55, hi=0.65), figure("dropped_rate", 0.65, lo=0.6, hi=0.7)
    (series,) = page_of(report(apart, touching), report(*before, week=BEFORE)).series
    assert [(m.before, m.now) for m in series.changes.moved] == [(0.6, 0.8)]


def test_figures_are_not_compared_over_bom_versions_but_the_change_of_bom_and_generator_is_told() -> None:
    now = report(figure(scope={"generator": "new"}), bom="bom-2")
    before = report(figure(scope={"generator": "old"}), bom="bom-1", week=BEFORE)
    changes = page_of(now, before).series[0].changes
    assert changes.not_compared is not None
    assert (changes.new_boms, changes.gone_boms) == (("bom-2",), ("bom-1",))
    assert (changes.new_generators, changes.gone_generators) == (("new",), ("old",))


def test_what_is_missing_is_told_by_reason() -> None:
    gone = figure("marginal_step", None, health=Health.SERVED, reason="41 more post-revision labels", scope={})
    (row,) = page_of(report(gone)).series[0].missing
    assert (row.reason, row.figures) == ("41 more post-revision labels", ("defects of the last retry",))


def test_the_canary_strip_counts_flips_by_day_and_run_and_injections_apart() -> None:
    first, second = canary(3, 20, at=MONDAY), canary(5, 20, at=MONDAY + timedelta(hours=6))
    injected = second.verdicts[0].model_copy(update={"injection": True})
    silent = second.verdicts[19].model_copy(update={"label": Label.ABSTAIN})
    second = second.model_copy(update={"verdicts": (injected, *second.verdicts[1:19], silent)})
    old = canary(9, 20, at=MONDAY - days(40))
    a, b = page_of(report(), second, first, old).canary
    assert (a.day, a.run, a.items, a.flips) == ("2026-11-23", 1, 20, 3)
    assert (b.run, b.items, b.flips, b.injection_flips, b.injections, b.undecided) == (2, 19, 4, 1, 1, 1)


def test_the_example_tells_of_a_judge_that_its_vendor_changed() -> None:
    page = example_page()
    conditions = {s.health: s.condition for s in page.series[0].sections}
    assert {"vendor_change", "served_defects_above_cap"} <= {str(a.kind) for a in page.firing}
    assert conditions[Health.JUDGE] is Condition.ATTENTION
    assert conditions[Health.RATERS] is Condition.CALM
    assert page.series[0].changes.new_generators == ("copywriter@2026-11",)


def test_the_same_topics_give_the_same_page() -> None:
    assert build(example(), WEEK, now=NOW) == example_page()
