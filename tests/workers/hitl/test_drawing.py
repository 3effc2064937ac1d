"""The draw: sizes that add up, exact inclusion probabilities, the same items on every repeat."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.decisions import Decision
from schemas.errors import BomError, SettingsError
from schemas.labels import TaskKind
from tests.workers.hitl.specimens import AT, STRATA, WEEK, decision, population
from workers.hitl.drawing import Cell, allocate, cell_sizes, draw_audit, draw_pairs, draw_week
from workers.hitl.population import Population, Week, strata_of

FIRST, REVISED, DROPPED = Decision.SERVED_FIRST_PASS, Decision.SERVED_AFTER_REVISION, Decision.DROPPED
NEW = ("new_item",)


def a_week() -> Population:
    """1,000 first-pass (100 of them new), 200 revised, 40 dropped."""
    first = [decision(k, FIRST, *(NEW if k < 100 else ())) for k in range(1000)]
    revised = [decision(k, REVISED) for k in range(1000, 1200)]
    return population(*first, *revised, *(decision(k, DROPPED) for k in range(1200, 1240)))


def test_strata_share_alike_a_small_one_is_taken_whole_and_slices_are_oversampled():
    sizes = {count.cell: count.size for count in cell_sizes(a_week(), oversample=NEW, size=300)}
    # By hand: dropped has 40 of its 100, so the others get 130 each; 100 new weigh 300, 900 others 900: 32.5 and 97.5.
    assert sizes == {
        Cell(DROPPED, ""): 40,
        Cell(REVISED, ""): 130,
        Cell(FIRST, "new_item"): 32,
        Cell(FIRST, ""): 98,
    } or (sizes[Cell(FIRST, "new_item")], sizes[Cell(FIRST, "")]) == (33, 97)
    assert sum(sizes.values()) == 300


def test_inclusion_probabilities_are_those_of_the_cells_and_weights_give_the_population_back():
    week = a_week()
    counts = cell_sizes(week, oversample=NEW, size=300)
    drawn = draw_week(week, counts, oversample=NEW)
    assert len({one.decision.event_id for one in drawn}) == 300
    assert {one.kind for one in drawn} == {TaskKind.SAMPLE}
    by_stratum: Counter[Decision] = Counter()
    for one in drawn:
        by_stratum[one.decision.decision] += 1 / one.inclusion  # type: ignore[assignment]
    assert by_stratum == pytest.approx({FIRST: 1000, REVISED: 200, DROPPED: 40})


def test_any_order_and_duplicates_give_the_same_draw():
    decisions = list(a_week().decisions.values())
    shuffled = [*decisions, *decisions[:100]]
    random.Random(1).shuffle(shuffled)
    week = population(*shuffled)
    counts = cell_sizes(week, oversample=NEW, size=300)
    again = {one.decision.event_id for one in draw_week(week, counts, oversample=NEW)}
    first = draw_week(a_week(), cell_sizes(a_week(), oversample=NEW, size=300), oversample=NEW)
    assert again == {one.decision.event_id for one in first}


def test_the_audit_draw_is_uniform_over_what_was_served_and_another_draw_than_the_sample():
    drawn = draw_audit(a_week(), 120)
    assert {one.inclusion for one in drawn} == {120 / 1200}
    assert {one.decision.decision for one in drawn} == {FIRST, REVISED}
    first = sum(one.decision.decision is FIRST for one in drawn)
    assert 86 <= first <= 114  # hypergeometric: 100 expected, standard deviation 3.9; 14 is 3.6 of them


def test_pairs_are_a_uniform_draw_from_what_was_revised_whatever_became_of_it():
    rounds = [decision(k, FIRST) for k in range(50)]
    rounds += [decision(k, (REVISED, DROPPED)[k % 2], attempt=1 + k % 3) for k in range(50, 130)]
    drawn = draw_pairs(population(*rounds), 20)
    assert len({one.decision.round_id for one in drawn}) == 20
    assert {(one.kind, one.inclusion) for one in drawn} == {(TaskKind.PAIR, 20 / 80)}
    assert all(one.decision.attempt > 0 for one in drawn)
    assert drawn == draw_pairs(population(*rounds[::-1]), 20)
    assert {one.inclusion for one in draw_pairs(population(*rounds), 500)} == {1.0}
    assert draw_pairs(population(*rounds), 0) == draw_pairs(population(*rounds[:50]), 20) == []


@given(
    st.integers(0, 400),
    st.dictionaries(st.sampled_from("abcdef"), st.tuples(st.integers(1, 100), st.floats(0.1, 10)), min_size=1),
)
@settings(derandomize=True, max_examples=200, deadline=None)
def test_an_allocation_adds_up_and_overfills_nothing(size: int, cells: dict[str, tuple[int, float]]):
    room = {name: count for name, (count, _) in cells.items()}
    given_ = allocate(size, room, {name: weight for name, (_, weight) in cells.items()})
    assert sum(given_.values()) == min(size, sum(room.values()))
    assert all(0 <= given_[name] <= room[name] for name in room)


def test_only_the_weeks_decisions_of_the_charters_strata_are_drawn_from():
    found = population(
        decision(1),
        decision(2, at=WEEK.end),
        decision(3, at=WEEK.start - timedelta(seconds=1)),
        decision(4, Decision.UNDECIDED),
        decision(5, at=WEEK.start),
    )
    assert {one.item_id for one in found.decisions.values()} == {"sku-1", "sku-5"}


def test_nobody_to_ask_is_an_empty_draw():
    empty = Population(WEEK, STRATA)
    assert cell_sizes(empty, oversample=NEW, size=300) == []
    assert draw_week(empty, [], oversample=NEW) == draw_audit(empty, 10) == []


@pytest.mark.parametrize("name", ["2026-48", "2026-W54", "26-W01", "2026-W1", "W", "2026-W-1", ""])
def test_what_is_no_week_is_refused(name: str):
    with pytest.raises(SettingsError, match="write it as 2026-W48"):
        Week.named(name)


def test_a_week_is_monday_to_monday():
    assert (WEEK.start.isoformat(), WEEK.end.isoformat()) == ("2026-11-23T00:00:00+00:00", "2026-11-30T00:00:00+00:00")
    assert WEEK.holds(AT)


def test_a_stratum_that_is_none_is_refused():
    with pytest.raises(BomError, match=r"hitl\.strata: 'served'"):
        strata_of(["served"])
