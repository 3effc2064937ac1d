"""The metadata of a commit says which records beyond it are finished: exact, short, and total to read."""

from __future__ import annotations

from base64 import b64encode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.runtime.finished import METADATA_CAP, decode, encode


@settings(derandomize=True, max_examples=150)
@given(base=st.integers(0, 2**40), steps=st.sets(st.integers(1, 3000), max_size=400))
def test_what_was_written_is_read_back(base, steps):
    finished = {base + step for step in steps}
    text = encode(base, finished)
    assert len(text) <= METADATA_CAP
    assert decode(base, text) == finished


@settings(derandomize=True, max_examples=40)
@given(base=st.integers(0, 2**40), runs=st.lists(st.tuples(st.integers(1, 5000), st.integers(1, 5000)), max_size=20))
def test_long_runs_are_read_back(base, runs):
    finished, position = set(), base
    for gap, length in runs:
        finished.update(range(position + gap, position + gap + length))
        position += gap + length
    assert decode(base, encode(base, finished)) == finished


@settings(derandomize=True, max_examples=300)
@given(base=st.integers(0, 2**40), tag=st.sampled_from(["b:", "z:", "r:", "b1:", ""]), text=st.text(max_size=60))
def test_any_text_can_be_read(base, tag, text):
    assert decode(base, tag + text) == set()


@settings(derandomize=True, max_examples=150)
@given(tag=st.sampled_from(["b:", "z:", "r:"]), raw=st.binary(max_size=80))
def test_base64_of_another_origin_means_nothing_known(tag, raw):
    assert decode(7, tag + b64encode(raw).decode()) == set()


def test_metadata_that_was_moved_to_another_offset_is_not_believed():
    assert decode(101, encode(100, {105})) == set()


def test_one_stuck_record_before_fifty_thousand_finished_ones_takes_a_few_bytes():
    assert len(encode(0, set(range(1, 50_001)))) < 60


def test_what_does_not_fit_loses_its_highest_offsets_only():
    # 50,000 random bits are about 6 kB and cannot be deflated.
    state, finished = 12345, set()
    for offset in range(1, 50_001):
        state = (1103515245 * state + 12345) % 2**31
        if state >> 16 & 1:
            finished.add(offset)
    text = encode(0, finished)
    kept = decode(0, text)
    assert METADATA_CAP // 2 < len(text) <= METADATA_CAP
    highest = max(kept)
    assert kept == {offset for offset in finished if offset <= highest}


@pytest.mark.parametrize("base", [0, 2**62])
def test_nothing_finished_is_no_metadata(base):
    assert encode(base, set()) == ""
    assert decode(base, "") == set()
