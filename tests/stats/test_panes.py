"""Late, idle and closed: what the watermark does."""

from __future__ import annotations

import pytest

from stats.cells import CellKey, Cells, pairs, pass_curve
from stats.checks import StatsInputError
from stats.joins import Joins
from stats.panes import Event, Fate, Mark, PaneFold


def event(id_: str, ts: float, item: str = "", version: int = 1, cell: str = "fail|fail") -> Event:
    return Event(id_, ts, item or id_, version, (Mark("bom", "c1", "all", "", cell),))


def test_an_event_is_late_once_the_watermark_has_passed_its_pane():
    fold = PaneFold(10, lateness=5)
    assert fold.apply(event("a", 3)) is Fate.COUNTED
    assert fold.apply(event("b", 14)) is Fate.COUNTED
    assert fold.apply(event("c", 4)) is Fate.COUNTED  # watermark 9: the first pane is still open
    assert fold.apply(event("d", 15)) is Fate.COUNTED
    assert fold.final(0)
    assert fold.apply(event("e", 4)) is Fate.LATE  # watermark 10
    assert fold.tally.late == 1


def test_a_corrected_label_moves_its_item_and_an_outdated_one_does_not():
    fold = PaneFold(10, lateness=100)
    fold.apply(event("v2", 1, item="i", version=2, cell="fail|pass"))
    assert fold.apply(event("v1", 1, item="i", version=1)) is Fate.OUTDATED
    assert fold.apply(event("v3", 1, item="i", version=3, cell="fail|fail")) is Fate.CORRECTED
    key = CellKey("bom", "c1", "all", "", 0)
    assert fold.cells.counts == {key: {"fail|fail": 1}}
    assert fold.tally.superseded == 2


def test_closed_panes_give_up_their_ids_so_that_the_state_is_bounded():
    fold = PaneFold(10)
    for day in range(1000):
        fold.apply(event(f"e{day}", day * 10))
    assert len(fold.panes_of_ids) == len(fold.entries) == 1
    assert sum(n for cells in fold.cells.counts.values() for n in cells.values()) == 1000


def test_a_redelivery_after_closing_is_late_unless_the_ids_are_kept():
    for keep, fate in ((0, Fate.LATE), (2, Fate.DUPLICATE), (None, Fate.DUPLICATE)):
        fold = PaneFold(10, keep_closed=keep)
        fold.apply(event("a", 5))
        fold.apply(event("b", 25))
        assert fold.apply(event("a", 5)) is fate


def test_a_silent_partition_holds_the_watermark_until_it_is_released():
    fold = PaneFold(10)
    fold.assign(1)
    fold.apply(event("a", 500), partition=0)
    assert not fold.final(0)
    fold.release(1)
    assert fold.final(49)


def test_shards_of_different_widths_cannot_be_merged():
    with pytest.raises(StatsInputError, match="same width and lateness"):
        PaneFold(10).merge(PaneFold(20))


def test_a_half_waits_for_the_other_order_and_is_never_guessed():
    joins = Joins(("AB", "BA"), capacity=2)
    assert joins.put("pair-1", "BA", "B", ts=1) is None
    assert joins.put("pair-1", "BA", "A", ts=1) is None  # redelivered
    assert joins.put("pair-1", "AB", "A", ts=2) == ("A", "B")
    joins.put("pair-2", "AB", "A", ts=3)
    joins.put("pair-3", "AB", "A", ts=4)
    joins.put("pair-4", "AB", "A", ts=5)  # no room: the oldest goes
    resumed = Joins.from_json(joins.to_json())
    assert resumed.unmatched == 1
    assert resumed.expire(before=5) == 1
    assert resumed.put("pair-4", "BA", "B", ts=6) == ("A", "B")


def test_a_window_sums_panes_of_one_judge_and_slice():
    cells = Cells()
    for pane, stratum, cell in ((1, "dropped", "fail|fail"), (2, "served", "pass|fail"), (3, "dropped", "fail|fail")):
        cells.add(CellKey("bom", "c1", "all", stratum, pane), cell)
    cells.add(CellKey("other", "c1", "all", "dropped", 1), "fail|pass")
    window = cells.window({1, 2}, bom_version="bom", criterion="c1")
    assert pairs(window) == {("fail", "fail"): 1, ("pass", "fail"): 1}
    assert cells.window({1, 2}, bom_version="bom", criterion="c1", strata=["dropped"]) == {"fail|fail": 1}


def test_panes_beyond_the_horizon_are_forgotten():
    cells = Cells()
    for pane in range(5):
        cells.add(CellKey("bom", "c1", "all", "", pane), "fail|fail")
    cells.drop_before(3)
    assert [key.pane for key in cells.counts] == [3, 4]


def test_an_unmerged_shard_is_not_read():
    cells = Cells()
    cells.retract(CellKey("bom", "c1", "all", "", 0), "fail|fail")
    with pytest.raises(StatsInputError, match="must not be negative"):
        cells.window({0}, bom_version="bom", criterion="c1")


def test_the_pass_curve_is_cumulative_over_attempts():
    gate = {"0|serve": 30, "0|revise": 70, "1|serve": 20, "1|drop": 50}
    assert pass_curve(gate, retry_budget=2) == [0.3, 0.5, 0.5]
