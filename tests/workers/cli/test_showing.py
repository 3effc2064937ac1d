"""Whatever bytes a record has: a terminal gets printable characters, a pipe gets JSON."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.verdict_space import Cause, Choice, Label
from schemas.verdicts import Vote
from workers.cli.showing import excerpt, headline, json_line, lines, shown_bytes, told_vote
from workers.runtime.printable import cut, escaped
from workers.runtime.records import InRecord

hostile_text = st.text(st.characters(), max_size=60)
values = st.one_of(
    st.none(),
    st.binary(max_size=60),
    st.dictionaries(hostile_text, st.one_of(hostile_text, st.integers(), st.lists(hostile_text))).map(
        lambda value: json.dumps(value).encode()
    ),
    st.sampled_from([b"[" * 100_000, b'{"a": NaN}', b'"\\ud800"', b"{" + b'"a":' * 3, b"1" * 5000]),
)


def record(value: bytes | None, key: bytes | None = b"k", timestamp_ms: int | None = 0) -> InRecord:
    return InRecord("assay.drafts", 3, 15, key, value, (("ce_id", b"\xff"), ("null", None)), timestamp_ms)


@settings(derandomize=True, max_examples=300)
@given(values, st.one_of(st.none(), st.binary(max_size=300)), st.integers(-(2**63), 2**63 - 1))
def test_nothing_unprintable_is_shown_and_every_line_is_short(value: bytes | None, key: bytes | None, ms: int) -> None:
    one = record(value, key, ms)
    for line in [headline(one, prefix="assay."), *lines(one)]:
        assert line.isprintable()
        assert len(line) < 1000
    line = json_line(one)
    assert line.isascii()
    assert line.isprintable()
    json.loads(line, parse_constant=pytest.fail)


def test_what_turns_text_around_or_moves_the_cursor_is_spelled_out() -> None:
    # ESC [ 2 J clears a screen; U+202E turns text around; U+200B has no width; U+0085 is a C1 line feed
    assert escaped("a\x1b[2J\u202eb\u200b\x85\n") == "a\\x1b[2J\\u202eb\\u200b\\x85\\n"
    assert escaped("Größe 5 µm 😀") == "Größe 5 µm 😀"


def test_a_headline_says_when_where_and_which_key() -> None:
    assert headline(record(b"{}", b"sku-1", 1_764_504_000_000), prefix="assay.") == (
        "2025-11-30 12:00:00  drafts/3@15  sku-1"
    )


def test_a_value_is_one_line_a_field() -> None:
    value = json.dumps({"text": "one\ntwo", "attempt": 0, "list": ["[bold]"]}).encode()
    assert list(lines(record(value))) == ["text: one\\ntwo", "attempt: 0", 'list: ["[bold]"]']


def test_what_is_left_out_is_counted() -> None:
    assert cut("abcdef", 4) == "abcd… (2 more)"
    assert shown_bytes(b"x" * 5000, limit=3) == "xxx… (5000 bytes in all)"
    assert shown_bytes(b"abcd", limit=3) == "abc… (4 bytes in all)"
    assert shown_bytes(b"\xffa", limit=50) == "\\xffa"


def test_a_value_that_is_no_json_is_kept_byte_by_byte_for_pipes() -> None:
    found = json.loads(json_line(record(b"\xff{")))
    assert found["value"] is None
    assert base64.b64decode(found["value_base64"]) == b"\xff{"
    assert "value_base64" not in json.loads(json_line(record(None)))


def test_a_vote_says_who_said_what_and_from_which_measure() -> None:
    vote = Vote(name="sure/small#1", judge="small@2026-09-15", label=Label.FAIL, score=2, cached=True)
    assert told_vote(vote) == "sure/small#1: fail score 2, cached  [small@2026-09-15]"
    flipped = Vote(name="rival_first", judge="m", label=Label.PASS, preference=Choice.TIE)
    assert told_vote(flipped) == "rival_first: pass prefers TIE  [m]"
    absent = Vote(name="large", judge="m", label=Label.ABSTAIN, cause=Cause.TIMEOUT)
    assert told_vote(absent) == "large: abstain (timeout)  [m]"


def test_a_long_text_is_shown_by_its_ends() -> None:
    text = "\n".join("abcdefg")
    assert excerpt(text, lines=4, whole="ask").split("\n") == ["a", "b", "… 3 more lines; ask", "f", "g"]
    assert excerpt(text, lines=6, whole="ask") == excerpt(text, lines=9, whole="ask") == text
    assert excerpt("x" * 1_000, lines=4, whole="ask") == cut("x" * 1_000, 400)
