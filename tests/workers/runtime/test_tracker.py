"""What may be committed: the state machine plays a worker's life and checks it against a plain model."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from workers.runtime.finished import METADATA_CAP
from workers.runtime.tracker import SPAN_CAP, OffsetsWentBack, PartitionTracker


class OnePartition(RuleBasedStateMachine):
    """A log with gaps, read by one owner after the other; ``effects`` counts how often each record finished."""

    @initialize(gaps=st.lists(st.integers(1, 4), min_size=30, max_size=30), start=st.integers(0, 50))
    def a_log(self, gaps, start):
        self.log, offset = [], start
        for gap in gaps:
            self.log.append(offset)
            offset += gap
        self.effects = dict.fromkeys(self.log, 0)
        self.stored = (None, "")  # what Kafka has for the group
        self.known_finished = set()  # what the last accepted commit said is finished
        self.in_doubt = None
        self.restore()

    def restore(self):
        committed, metadata = self.stored
        self.tracker = PartitionTracker(committed, metadata)
        self.running = []
        self.to_read = [offset for offset in self.log if committed is None or offset >= committed]
        self.finished_here = set()
        self.in_doubt = None

    @precondition(lambda self: self.to_read)
    @rule(count=st.integers(1, 6))
    def admit(self, count):
        for offset in self.to_read[:count]:
            if self.tracker.admit(offset):
                assert offset not in self.known_finished, "the metadata said that it is finished"
                self.running.append(offset)
            else:
                assert self.effects[offset], "skipped without ever having run"
        del self.to_read[:count]

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def done_in_any_order(self, data):
        offset = self.running.pop(data.draw(st.integers(0, len(self.running) - 1)))
        self.effects[offset] += 1
        self.finished_here.add(offset)
        self.tracker.done(offset)

    @rule(accepted=st.booleans())
    def commit(self, accepted):
        if (point := self.tracker.commit_point()) is None:
            return
        self.check(point)
        if accepted:
            self.stored = (point.offset, point.metadata)
            self.tracker.acknowledge(point)
            assert self.tracker.commit_point() is None
            self.known_finished |= self.finished_here

    @rule()
    def commit_of_which_the_answer_is_lost(self):
        if (point := self.tracker.commit_point()) is not None:
            self.check(point)
            self.stored = (point.offset, point.metadata)
            self.known_finished |= self.finished_here

    @rule()
    def crash(self):
        self.restore()

    @rule()
    def revoke_and_assign_again(self):
        self.tracker.revoke()
        for offset in self.running:
            self.tracker.done(offset)
        assert self.tracker.commit_point() is None
        self.restore()

    def check(self, point):
        unfinished = [offset for offset in self.log if not self.effects[offset]]
        assert point.offset <= min(unfinished, default=point.offset), "would skip an unfinished record"
        assert len(point.metadata) <= METADATA_CAP

    @invariant()
    def position_never_passes_an_unfinished_record(self):
        if hasattr(self, "tracker") and self.tracker.position is not None:
            unfinished = [offset for offset in self.log if not self.effects[offset]]
            assert self.tracker.position <= min(unfinished, default=self.tracker.position)
            assert self.tracker.unfinished == len(self.running)

    def teardown(self):
        """Whatever happened: read on to the end, and every record has run."""
        if not hasattr(self, "tracker"):
            return
        self.admit(len(self.log) + 1)
        for offset in self.running:
            self.effects[offset] += 1
            self.tracker.done(offset)
        assert all(self.effects.values())
        assert self.tracker.position is None or self.tracker.position > self.log[-1]


OnePartition.TestCase.settings = settings(derandomize=True, max_examples=120, stateful_step_count=40, deadline=None)
TestOnePartition = OnePartition.TestCase


def admitted(*offsets, committed=None, metadata=""):
    tracker = PartitionTracker(committed, metadata)
    return tracker, [offset for offset in offsets if tracker.admit(offset)]


def test_the_commit_stays_before_the_first_unfinished_record():
    tracker, _ = admitted(10, 11, 12)
    tracker.done(12)
    tracker.done(10)
    assert tracker.commit_point()[0] == 11


def test_a_gap_in_the_offsets_holds_nothing_up():
    tracker, _ = admitted(10, 15, 99)
    for offset in (15, 10, 99):
        tracker.done(offset)
    assert tracker.commit_point()[:2] == (100, "")


def test_finished_records_that_were_not_read_again_survive_a_second_crash():
    first, _ = admitted(*range(10))
    first.done(8)
    point = first.commit_point()
    second, runs = admitted(0, 1, committed=point.offset, metadata=point.metadata)
    second.done(0)
    again = second.commit_point()
    _, third_runs = admitted(*range(1, 10), committed=again.offset, metadata=again.metadata)
    assert runs == [0, 1]
    assert 8 not in third_runs


def test_a_log_that_was_made_anew_is_read_from_its_start():
    tracker, runs = admitted(0, 1, committed=1000, metadata="")
    assert runs == [0, 1]
    tracker.done(0)
    assert tracker.commit_point()[0] == 1


def test_a_log_that_is_cut_under_the_running_worker_stops_it():
    tracker, _ = admitted(10, 11)
    with pytest.raises(OffsetsWentBack):
        tracker.admit(3)


def test_a_stuck_record_lets_the_rest_go_on_until_the_span_is_full():
    tracker, _ = admitted(*range(SPAN_CAP + 2))
    for offset in range(1, SPAN_CAP + 2):
        tracker.done(offset)
    assert len(tracker.commit_point().metadata) < 100
    assert tracker.crowded
    tracker.done(0)
    assert not tracker.crowded


def test_metadata_that_fills_up_stops_the_intake_before_the_broker_refuses_it():
    tracker, _ = admitted(*range(40_000))
    state, step = 1, 0
    while not tracker.crowded and step < 39_990:
        for _ in range(100):  # a pattern that cannot be deflated
            step += 1
            state = (1103515245 * state + 12345) % 2**31
            if state >> 16 & 1:
                tracker.done(step)
        tracker.commit_point()
    assert tracker.crowded
    assert METADATA_CAP * 0.75 < tracker.metadata_size < METADATA_CAP
