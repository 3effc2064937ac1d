"""Records of one key run one after the other; nothing of a closed partition starts."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from workers.runtime.lanes import Lanes, OpenPartition
from workers.runtime.records import InRecord
from workers.runtime.tracker import PartitionTracker


def record(offset, key=None):
    return InRecord("t", 0, offset, key, b"")


def lanes_with(*records):
    lanes, partition = Lanes(), OpenPartition(PartitionTracker())
    for one in records:
        lanes.admit(partition, one)
    return lanes, partition


def test_one_record_of_a_key_at_a_time_and_keys_do_not_wait_for_each_other():
    lanes, _ = lanes_with(record(0, b"a"), record(1, b"a"), record(2, b"b"))
    first, other = lanes.take(), lanes.take()
    assert (first.record.offset, other.record.offset) == (0, 2)
    assert lanes.take() is None
    lanes.finish(first, done=True)
    assert lanes.take().record.offset == 1


def test_records_without_a_key_never_wait_for_each_other():
    lanes, _ = lanes_with(record(0), record(1), record(2))
    assert [lanes.take().record.offset for _ in range(3)] == [0, 1, 2]


def test_an_empty_key_is_a_key():
    lanes, _ = lanes_with(record(0, b""), record(1, b""))
    assert lanes.take() is not None
    assert lanes.take() is None


def test_while_held_nothing_starts_and_what_must_run_again_comes_first():
    lanes, _ = lanes_with(record(0, b"a"), record(1, b"a"))
    taken = lanes.take()
    lanes.held = True
    lanes.finish(taken, done=False)
    assert (lanes.take(), lanes.ready) == (None, 0)
    lanes.held = False
    assert lanes.take().record.offset == 0


def test_closing_a_partition_drops_what_waits_with_and_without_keys():
    lanes, partition = lanes_with(record(0, b"a"), record(1, b"a"), record(2), record(3), record(4, b"b"))
    other = OpenPartition(PartitionTracker())
    lanes.admit(other, InRecord("t", 1, 0, b"a", b""))
    running = lanes.take()
    assert lanes.close(partition) == 4
    lanes.finish(running, done=False)
    assert len(lanes) == 1
    assert lanes.take().lane.partition is other
    assert partition.running == 0


@settings(derandomize=True, max_examples=150)
@given(
    keys=st.lists(st.sampled_from([None, b"a", b"b", b"c"]), max_size=30),
    choices=st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=200),
)
def test_whatever_the_order_of_finishing_each_key_finishes_in_order_and_nothing_is_left(keys, choices):
    lanes, partition = lanes_with(*(record(offset, key) for offset, key in enumerate(keys)))
    running, finished = [], []
    for index, done in [*choices, *((0, True) for _ in range(2 * len(keys)))]:
        if (taken := lanes.take()) is not None:
            assert taken.record.key is None or taken.record.key not in [one.record.key for one in running]
            running.append(taken)
        if running:
            taken = running.pop(index % len(running))
            lanes.finish(taken, done=done)
            finished += [taken.record] if done else []
        assert len(lanes) == lanes.waiting + lanes.running == len(keys) - len(finished)
    assert len(finished) == len(keys)
    for key in (b"a", b"b", b"c"):
        offsets = [one.offset for one in finished if one.key == key]
        assert offsets == sorted(offsets)
    assert partition.lanes == {}
