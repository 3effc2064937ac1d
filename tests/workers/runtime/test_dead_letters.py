"""Dead letters keep the bytes; a limit keeps a bad deployment from diverting a topic."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from schemas.dead_letter import DeadLetter, original_headers
from schemas.errors import TooManyDeadLetters
from workers.runtime.dead_letters import DeadLetterBox, DeadLetterLimit
from workers.runtime.records import InRecord

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
BOX = DeadLetterBox(topic="assay.dead-letters", limit_bytes=2_000, group="assay.judge", worker="judge-1")


def letter(record):
    return BOX.letter(record, kind="not_json", error="Expecting value at character 0", at=AT)


@pytest.mark.parametrize("key", [b"k", b"", b"\xff", None])
@pytest.mark.parametrize("value", [b"\xff\xfe{not json", b"", b"x" * 1000])
def test_key_value_and_headers_are_kept_as_they_were(key, value):
    headers = (("traceparent", b"\xff\xfe"), ("a", None), ("a", b"2"))
    out = letter(InRecord("assay.drafts", 3, 17, key, value, headers))
    assert (out.topic, out.key, out.value) == ("assay.dead-letters", key, value)
    assert original_headers(out.headers) == headers
    assert DeadLetter.from_headers(out.headers) == DeadLetter(
        "assay.drafts", 3, 17, "assay.judge", "judge-1", "not_json", "Expecting value at character 0", AT.isoformat()
    )


def test_a_tombstone_stays_a_tombstone_where_that_is_possible():
    assert letter(InRecord("t", 0, 0, b"k", None)).value is None
    neither = letter(InRecord("t", 0, 0, None, None))
    assert neither.value == b""
    assert ("assay-dlq-null-value", b"true") in neither.headers


@pytest.mark.parametrize(
    "record",
    [
        InRecord("assay.drafts", 3, 17, b"k", b"x" * 3000),
        InRecord("assay.drafts", 3, 17, b"k", b"x", (("h", b"x" * 3000),)),
        InRecord("assay.drafts", 3, 17, b"k" * 3000, b"x"),
    ],
)
def test_what_is_too_large_becomes_a_pointer_to_where_it_lies(record):
    out = letter(record)
    assert out.value == b"kafka://assay.drafts/3/17"
    assert DeadLetter.from_headers(out.headers).pointer
    assert out.size <= 2_000
    assert out.key == (b"k" if len(record.key) == 1 else None)


def test_a_dead_letter_that_is_a_dead_letter_again_names_its_last_origin_only():
    again = letter(InRecord("other", 1, 2, b"k", b"v", letter(InRecord("first", 0, 0, b"k", b"v")).headers))
    assert DeadLetter.from_headers(again.headers).topic == "other"


def limit():
    return DeadLetterLimit(worker="judge", topic="assay.drafts", ratio=0.2, window=10, in_a_row=4)


def test_now_and_then_a_dead_letter_is_no_reason_to_stop():
    counted = limit()
    for _ in range(100):
        counted.bad()
        for _ in range(4):
            counted.good()


def test_too_many_in_a_row_stop_the_worker_even_at_its_start():
    counted = limit()
    for _ in range(3):
        counted.bad()
    line = (
        r"^judge, reading assay.drafts: 4 dead letters in a row \(ASSAY_DEAD_LETTERS_IN_A_ROW=4\): .*`assay dlq list`"
    )
    with pytest.raises(TooManyDeadLetters, match=line):
        counted.bad()


def test_too_large_a_share_stops_the_worker():
    counted = limit()
    for _ in range(10):
        counted.good()
    counted.bad()
    counted.good()
    counted.bad()
    counted.good()
    with pytest.raises(TooManyDeadLetters, match=r"3 of the last 10 records .*raise ASSAY_DEAD_LETTER_RATIO for one"):
        counted.bad()


def test_what_is_older_than_the_window_is_forgotten():
    counted = limit()
    counted.bad()
    counted.bad()
    for _ in range(10):
        counted.good()
    counted.bad()
    counted.bad()
