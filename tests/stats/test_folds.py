"""What every mergeable state must keep: order, split, duplication, retraction and a crash change nothing."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stats.alignment import AlignmentCounts, alignment, alignment_from_counts
from stats.alpha import AlphaState
from stats.cells import CellKey, Cells
from stats.length_bias import LengthMoments
from stats.panel import PanelCounts, Pattern
from stats.panes import Event, Mark, PaneFold
from stats.sampling import BottomK
from stats.unavailable import Unavailable

bounded = settings(derandomize=True, max_examples=80, deadline=None)

labels = st.sampled_from(["pass", "fail", "abstain"])


@st.composite
def events(draw: st.DrawFn) -> list[Event]:
    """Judgments of a few items with their corrections: versions of an item differ, its time stays (or moves on)."""
    out = []
    for item in range(draw(st.integers(1, 8))):
        for version in range(1, draw(st.integers(1, 4))):
            marks = tuple(
                Mark("bom-1", "c1", slice_, "dropped", f"{draw(labels)}|{draw(labels)}")
                for slice_ in draw(st.sampled_from([("all",), ("all", "new"), ()]))
            )
            out.append(Event(f"e{item}.{version}", draw(st.integers(0, 39)), f"item-{item}", version, marks))
    return out


def fold(arrivals: list[Event]) -> PaneFold:
    state = PaneFold(10, lateness=100)
    for event in arrivals:
        state.apply(event)
    return state


def batch(arrivals: list[Event]) -> Cells:
    """The definition, without any streaming: the highest version of each item counts, once."""
    newest: dict[str, Event] = {}
    for event in arrivals:
        if event.item not in newest or event.version > newest[event.item].version:
            newest[event.item] = event
    cells = Cells()
    for event in newest.values():
        for bom, criterion, slice_, stratum, cell in event.marks:
            cells.add(CellKey(bom, criterion, slice_, stratum, int(event.ts // 10)), cell)
    return cells


@bounded
@given(events(), st.randoms(use_true_random=False))
def test_any_order_and_any_duplication_give_the_batch(arrivals, rng):
    shuffled = [*arrivals, *(rng.choice(arrivals) for _ in arrivals)]
    rng.shuffle(shuffled)
    state = fold(shuffled)
    assert state.cells == batch(arrivals)
    assert state.tally.duplicates == len(shuffled) - len(arrivals)
    assert state.tally.superseded == len(arrivals) - len({e.item for e in arrivals})


@bounded
@given(events(), st.randoms(use_true_random=False), st.integers(1, 4))
def test_any_split_over_consumers_gives_the_batch(arrivals, rng, consumers):
    shards: list[list[Event]] = [[] for _ in range(consumers)]
    for event in arrivals:
        for shard in rng.sample(shards, rng.randint(1, consumers)):  # some events reach several consumers
            shard.append(event)
    merged = fold(shards[0])
    for shard in shards[1:]:
        merged = merged.merge(fold(shard))
    assert merged.cells == batch(arrivals)
    assert merged.tally.superseded == fold(arrivals).tally.superseded


@bounded
@given(events(), st.integers(0, 30))
def test_a_crash_between_any_two_events_and_a_resume_give_the_batch(arrivals, crash_at):
    state = fold(arrivals[:crash_at])
    resumed = PaneFold.from_json(json.loads(json.dumps(state.to_json(), allow_nan=False)))
    for event in arrivals[max(crash_at - 2, 0) :]:  # at least once: the last two come again
        resumed.apply(event)
    assert resumed.cells == batch(arrivals)


@bounded
@given(events())
def test_a_judgment_taken_back_was_never_counted(arrivals):
    state = fold(arrivals)
    for item in {e.item for e in arrivals}:
        state.apply(Event(f"undo-{item}", 0, item, 99, ()))
    assert state.cells == Cells()


@bounded
@given(st.lists(st.tuples(st.integers(0, 3), labels, st.booleans()), max_size=40), st.randoms(use_true_random=False))
def test_cells_forget_what_is_retracted_in_any_order(steps, rng):
    keys = [CellKey("bom", "c1", "all", "", pane) for pane in range(4)]
    kept, with_noise = Cells(), [(keys[p], f"{label}|", 1) for p, label, _ in steps]
    for pane, label, noise in steps:
        if noise:
            with_noise += [(keys[pane], f"x{label}|", 1), (keys[pane], f"x{label}|", -1)]
        kept.add(keys[pane], f"{label}|")
    rng.shuffle(with_noise)
    left, right = Cells(), Cells()
    for i, (key, cell, times) in enumerate(with_noise):
        (left if i % 2 else right).add(key, cell, times)
    assert left.merge(right) == kept
    assert Cells.from_json(json.loads(json.dumps(kept.to_json()))) == kept


@bounded
@given(st.lists(st.text(max_size=6), unique=True, max_size=60), st.integers(1, 12), st.randoms(use_true_random=False))
def test_a_bottom_k_sample_does_not_depend_on_order_or_split(items, k, rng):
    whole = BottomK(k, salt="bom-1/week-7")
    for item in items:
        whole.add("dropped", item)
    shuffled = list(items)
    rng.shuffle(shuffled)
    cut = rng.randint(0, len(items))
    parts = []
    for shard in (shuffled[:cut], shuffled[cut:]):
        part = BottomK(k, salt="bom-1/week-7")
        for item in shard:
            part.add("dropped", item)
        parts.append(BottomK.from_json(json.loads(json.dumps(part.to_json()))))
    merged = parts[0].merge(parts[1])
    assert merged.sample("dropped") == whole.sample("dropped")
    assert len(whole.sample("dropped")) == min(k, len(items))
    assert not items or merged.inclusion("dropped") == min(1.0, k / len(items))


units = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=20)


@bounded
@given(units, units, st.integers(0, 20))
def test_alpha_adds_up_and_takes_back(kept, withdrawn, cut):
    whole, left, right = (AlphaState(("pass", "fail")) for _ in range(3))
    for unit in kept:
        whole.add(unit)
    for unit in [*kept[:cut], *withdrawn]:
        left.add(unit)
    for unit in kept[cut:]:
        right.add(unit)
    for unit in withdrawn:
        right.retract(unit)
    merged = AlphaState.from_json(json.loads(json.dumps(left.merge(right).to_json())))
    assert merged.to_json() == whole.to_json()
    assert merged.alpha() == whole.alpha()


runs = st.lists(st.tuples(st.floats(-10, 10), st.integers(1, 10_000)), max_size=20)


@bounded
@given(runs, runs, st.integers(0, 20))
def test_length_moments_add_up_and_take_back(kept, withdrawn, cut):
    whole, left, right = (LengthMoments() for _ in range(3))
    for run in kept:
        whole = whole.add(*run)
    for run in [*kept[:cut], *withdrawn]:
        left = left.add(*run)
    for run in kept[cut:]:
        right = right.add(*run)
    for run in withdrawn:
        right = right.retract(*run)
    assert LengthMoments.from_json(json.loads(json.dumps(left.merge(right).to_json()))) == whole


@bounded
@given(
    st.lists(
        st.tuples(labels, st.sampled_from(["pass", "fail", None]), st.booleans(), st.sampled_from([0.5, 1.0, 4.0])),
        max_size=30,
    ),
    st.integers(0, 30),
)
def test_alignment_from_merged_counts_is_the_alignment_of_the_items(rows, cut):
    def counts(part):
        kept = [row for row in part if row[1] is not None]
        return [
            AlignmentCounts(
                weight,
                Counter((j, h) for j, h, _, w in kept if w == weight),
                sum(same for j, h, same, w in kept if w == weight and j == h == "fail"),
            )
            for weight in (0.5, 1.0, 4.0)
        ]

    judge, human, same, weights = (list(c) for c in zip(*rows, strict=True)) if rows else ([], [], [], [])
    whole = alignment(judge, human, reason_agrees=same, weights=weights)
    merged = alignment_from_counts([*counts(rows[:cut]), *counts(rows[cut:])])
    for name in ("spec", "rec", "ra_neg", "score"):
        ours, theirs = getattr(merged, name), getattr(whole, name)
        assert ours == theirs if isinstance(theirs, Unavailable) else ours == pytest.approx(theirs)
    assert merged.confusion == whole.confusion


def test_panel_counts_add_up_take_back_and_survive_json():
    rng = random.Random(5)
    patterns = [
        Pattern(rng.choice(["a", "b"]), rng.choice([1.0, 2.5]), "fail", (rng.choice(["pass", None]), "fail", "pass"))
        for _ in range(50)
    ]
    whole, left, right = PanelCounts(), PanelCounts(), PanelCounts()
    for i, pattern in enumerate(patterns):
        whole.add(pattern)
        (left if i % 3 else right).add(pattern)
    left.retract(patterns[0])  # below 0 in one shard until the other is merged
    right.add(patterns[0])
    assert left.merge(right) == whole
    assert PanelCounts.from_json(json.loads(json.dumps(whole.to_json()))) == whole
