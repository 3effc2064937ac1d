"""The register of dead letters: what is folded from the topic, chosen, and counted."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.dead_letter import DeadLetter, Replayed, original_headers
from schemas.headers import Headers
from workers.dead_letters.register import Chosen, Entry, Place, Register, groups
from workers.runtime.records import InRecord

_offsets = itertools.count()


def letter(kind: str = "not_json", topic: str = "assay.drafts", at: str = "2026-11-30T12:00:00+00:00") -> DeadLetter:
    """Each about a record of its own."""
    return DeadLetter(topic, 1, next(_offsets), "assay.judge", "judge", kind, "why", at)


def record(offset: int, headers: Headers, *, partition: int = 0, key: bytes = b"sku-1") -> InRecord:
    return InRecord("assay.dead-letters", partition, offset, key, b"{", headers)


def mark(offset: int) -> Headers:
    return Replayed(offset, "ada", "mended", "2026-11-30T13:00:00+00:00").to_headers()


def folded(*records: InRecord) -> Register:
    register = Register()
    for one in records:
        register.add(one)
    return register


def places(register: Register, which: Chosen) -> list[str]:
    return [str(entry.place) for entry in register.chosen(which)]


def test_a_mark_belongs_to_the_letter_of_its_own_partition() -> None:
    register = folded(
        record(4, letter().to_headers(())), record(4, letter().to_headers(()), partition=1), record(5, mark(4))
    )
    first, second = register.chosen(Chosen())
    assert (first.place, [m.operator for m in first.replays]) == (Place(0, 4), ["ada"])
    assert (second.place, second.replays) == (Place(1, 4), ())


def test_letters_about_one_record_count_once_and_went_back_together() -> None:
    once = letter().to_headers(())
    register = folded(
        record(0, once), record(1, once), record(2, once, partition=1), record(3, letter().to_headers(())),
        record(4, mark(1)), record(5, once, key=b"sku-2"),
    )  # fmt: skip
    assert places(register, Chosen()) == ["0@0", "0@3", "0@5"]
    (entry,) = register.chosen(Chosen(places=frozenset({Place(1, 2)})))
    assert (entry.place, entry.repeats, len(entry.replays)) == (Place(0, 0), (Place(0, 1), Place(1, 2)), 1)
    assert [(row.letters, row.replayed) for row in groups(register.chosen(Chosen()))] == [(3, 1)]


def test_a_mark_whose_letter_retention_has_removed_and_a_strange_record_are_no_letters() -> None:
    register = folded(record(9, mark(4)), record(10, (("x", b"y"),)))
    assert register.chosen(Chosen()) == []
    assert register.unreadable == 1


def test_each_filter_chooses_and_all_of_them_together() -> None:
    register = folded(
        record(0, letter().to_headers(())),
        record(1, letter("bad_schema").to_headers(()), key=b"sku-2"),
        record(2, letter(topic="assay.verdicts", at="2026-12-01T00:00:00+00:00").to_headers(())),
        record(3, letter(at="not a time").to_headers(())),
    )
    assert places(register, Chosen(kind="bad_schema")) == ["0@1"]
    assert places(register, Chosen(topic="assay.verdicts")) == ["0@2"]
    assert places(register, Chosen(item="sku-2")) == ["0@1"]
    assert places(register, Chosen(since=datetime(2026, 12, 1, tzinfo=UTC))) == ["0@2"]
    assert places(register, Chosen(places=frozenset({Place(0, 3)}))) == ["0@3"]
    assert places(register, Chosen(kind="bad_schema", item="sku-1")) == []
    assert Chosen().everything
    assert not Chosen(item="").everything


def test_groups_count_letters_and_replays_and_show_the_newest() -> None:
    rows = groups(
        folded(
            record(0, letter(at="2026-11-30T14:00:00+00:00").to_headers(())),
            record(1, letter(at="2026-11-30T12:00:00+00:00").to_headers(())),
            record(2, letter("bad_schema").to_headers(())),
            record(3, mark(1)),
        ).chosen(Chosen())
    )
    assert [(row.kind, row.letters, row.replayed, str(row.newest.place)) for row in rows] == [
        ("not_json", 2, 1, "0@0"), ("bad_schema", 1, 0, "0@2"),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["3@15", "dead-letters/3@15", "assay.dead-letters/3@15"])
def test_a_place_is_written_as_it_is_shown(text: str) -> None:
    assert Place.parse(text) == Place(3, 15)
    assert str(Place(3, 15)) == "3@15"


@pytest.mark.parametrize("text", ["", "3", "3@", "@15", "3@x", "-1@2", "3@15@2"])
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="PARTITION@OFFSET"):
        Place.parse(text)


headers = st.lists(st.tuples(st.text(max_size=12), st.one_of(st.none(), st.binary(max_size=12))), max_size=4)


@settings(derandomize=True, max_examples=200)
@given(headers.map(tuple), st.booleans())
def test_original_headers_come_back_whatever_they_were(original: Headers, pointer: bool) -> None:
    original = tuple(row for row in original if not row[0].startswith("assay-dlq-"))
    one = letter()._replace(pointer=pointer)
    written = one.to_headers(original)
    assert original_headers(written) == original
    assert DeadLetter.from_headers(written) == one
    assert Replayed.from_headers(written) is None


@settings(derandomize=True, max_examples=200)
@given(headers.map(tuple))
def test_any_headers_are_read_without_an_error(any_headers: Headers) -> None:
    folded(record(0, any_headers), record(1, (*any_headers, ("assay-dlq-replayed-offset", b"\xc2\xb2"))))
    assert isinstance(Entry(Place(0, 0), None, 0, letter()), Entry)
