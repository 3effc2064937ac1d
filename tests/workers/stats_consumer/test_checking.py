"""Each BOM version in force is checked by itself: a small one hides behind no large one, and a gone one ends."""

from __future__ import annotations

import random
from datetime import datetime

from schemas.alerts import AlertState
from tests.workers.stats_consumer.said import attempt, in_week
from tests.workers.stats_consumer.simulated import DIAGNOSES, add, fired, folded, looked, week
from workers.stats_consumer.alert_book import AlertBook
from workers.stats_consumer.checking import judging_now, leading_bom
from workers.stats_consumer.fold import Fold
from workers.stats_consumer.outcome import Looked, NoData
from workers.stats_consumer.rules import DEFAULT_RULES
from workers.stats_consumer.running_checks import RUNNING, running_checks
from workers.stats_consumer.week import weeks_of
from workers.stats_consumer.weeks import pane_of

OLD, NEW = "bom-old", "bom-new"
NOW = in_week(5, 3600)
MANY, FEW = {"drafts": 500, "labelled": 200}, {"drafts": 250, "labelled": 200}
GOOD = {"raters": (0.98, 0.98, 0.98), "judge": 0.99, "prevalence": 0.3}
LENIENT = {**GOOD, "fails_flipped": 0.5}


def side_by_side(old: dict[str, object], new: dict[str, object], *, running: tuple[str, ...] = (OLD, NEW)) -> Fold:
    """Four good weeks of both, a fifth in which they are as given, and the beginning of the sixth by ``running``."""
    rng, fold = random.Random(5), folded()
    for number in range(5):
        add(fold, week(number, rng, bom=OLD, **{**MANY, **(old if number == 4 else GOOD)}))  # type: ignore[arg-type]
        add(fold, week(number, rng, bom=NEW, **{**FEW, **(new if number == 4 else GOOD)}))  # type: ignore[arg-type]
    for bom in running:
        add(fold, [attempt(f"{bom}-now-{i}", at=in_week(5, i), bom=bom) for i in range(20)])
    return fold


def diagnosed(fold: Fold, *, now: datetime = NOW) -> dict[str, set[str]]:
    """Of each BOM version that is looked at: what fires of the diagnoses."""
    return {look.bom_version: fired(look.outcomes) & DIAGNOSES for look in looked(fold, now=now) if look.bom_version}


def test_two_good_versions_side_by_side_are_quiet() -> None:
    assert diagnosed(side_by_side(GOOD, GOOD)) == {OLD: set(), NEW: set()}


def test_a_lenient_judge_of_a_small_share_is_told_and_of_itself_alone() -> None:
    assert diagnosed(side_by_side(GOOD, LENIENT)) == {OLD: set(), NEW: {"lenient_judge"}}


def test_a_lenient_judge_of_the_large_share_is_told_while_the_small_one_is_well() -> None:
    assert diagnosed(side_by_side(LENIENT, GOOD)) == {OLD: {"lenient_judge"}, NEW: set()}


def test_what_was_rolled_back_is_still_told_when_its_labels_come_but_not_that_it_is_silent() -> None:
    fold = side_by_side(GOOD, LENIENT, running=(OLD,))
    by_bom = {look.bom_version: look for look in looked(fold, now=NOW)}
    assert fired(by_bom[NEW].outcomes) & DIAGNOSES == {"lenient_judge"}
    assert by_bom[NEW].ended == RUNNING
    assert not by_bom[OLD].ended
    assert not {outcome.kind for outcome in by_bom[NEW].outcomes} & RUNNING


def test_the_alerts_of_a_version_end_when_its_weeks_are_final() -> None:
    fold, book = side_by_side(GOOD, LENIENT, running=(OLD,)), AlertBook()
    book.tell(looked(fold, now=NOW), window="w", now=NOW)
    for number in (5, 6, 7):
        add(fold, week(number, random.Random(number), bom=OLD, **MANY, **GOOD))  # type: ignore[arg-type]
    later = in_week(8)
    of_new = [a for a in book.tell(looked(fold, now=later), window="w", now=later) if a.bom_version == NEW]
    assert {alert.state for alert in of_new} == {AlertState.RESOLVED}
    assert "lenient_judge" in {str(alert.kind) for alert in of_new}


def test_a_version_with_a_handful_of_drafts_is_said_to_lack_data() -> None:
    rng, fold = random.Random(5), folded()
    for number in range(5):
        add(fold, week(number, rng, bom=OLD, **MANY, **GOOD))  # type: ignore[arg-type]
        add(fold, week(number, rng, bom=NEW, drafts=8, labelled=4, **GOOD))  # type: ignore[arg-type]
    (of_new,) = [look for look in looked(fold, now=NOW) if look.bom_version == NEW]
    assert not fired(of_new.outcomes)
    missing = {str(outcome.kind) for outcome in of_new.outcomes if isinstance(outcome, NoData)}
    assert missing >= {"served_defects_above_cap", "lenient_judge"}


def test_silence_of_everybody_ends_nothing() -> None:
    """Nothing has been judged for two weeks: the versions that judged last are still in force."""
    fold = side_by_side(GOOD, LENIENT, running=())
    later = in_week(6)
    assert {look.bom_version for look in looked(fold, now=later)} == {"", OLD, NEW}
    assert not [look for look in looked(fold, now=later) if look.ended]


def test_the_leading_version_judged_most_in_the_newest_week() -> None:
    weeks = weeks_of(side_by_side(GOOD, GOOD, running=(NEW,)).cells)
    assert (leading_bom(weeks, pane_of(NOW)), leading_bom(weeks, pane_of(in_week(4)))) == (NEW, OLD)
    assert judging_now(weeks, pane_of(NOW)) == {NEW}
    assert (leading_bom({}, 1), judging_now({}, 1)) == (None, set())


def test_before_any_draft_dead_letters_alone_are_looked_at() -> None:
    assert [look.bom_version for look in looked(Fold(), now=NOW)] == [""]


def test_the_kinds_that_end_with_a_version_are_those_that_are_looked_at_while_it_judges() -> None:
    fold = side_by_side(GOOD, GOOD)
    of_week = weeks_of(fold.cells)[OLD][pane_of(NOW)]
    seen = {outcome.kind for outcome in running_checks(of_week, DEFAULT_RULES)}
    assert seen < RUNNING
    assert {str(kind) for kind in RUNNING - seen} == {"vendor_change"}


def test_a_look_speaks_of_each_kind_and_scope_once() -> None:
    for look in looked(side_by_side(GOOD, LENIENT), now=NOW):
        assert_once(look)


def assert_once(look: Looked) -> None:
    said = [(outcome.kind, tuple(sorted(outcome.scope.items()))) for outcome in look.outcomes]
    assert len(said) == len(set(said))
