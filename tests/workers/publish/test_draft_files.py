"""Drafts from files: a good line is a draft, a bad one a problem that names line and field."""

from __future__ import annotations

import pytest

from workers.publish.draft_files import Found, Problem, from_csv, from_jsonl, refused

GOOD = b'{"item_id":"a","text":"A kettle.","context":{"instruction":"Describe."}}'


def test_good_lines_become_drafts_and_blank_ones_are_passed_over() -> None:
    found = list(from_jsonl([GOOD, b"\n", GOOD]))
    assert [(one.line, one.ignored) for one in found if isinstance(one, Found)] == [(1, frozenset()), (3, frozenset())]


def test_a_line_may_be_refused_for_what_nobody_reads_in_it() -> None:
    line = GOOD[:-1] + b',"txt":1,"\\u001b[m":2,"item_id":"b"}'
    (found,) = from_jsonl([line])
    assert isinstance(found, Found)
    assert found.draft.item_id == "b"
    assert refused(found).what == (
        "field item_id is given twice; only the last one counts; unknown field \\x1b[m is ignored; "
        "unknown field txt is ignored; did you mean text?"
    )
    many = b"".join(b',"x%d":1' % number for number in range(9))
    (found,) = from_jsonl([GOOD[:-1] + many + b"}"])
    assert isinstance(found, Found)
    assert refused(found).what.endswith("; and 4 more")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"{", "not_json"),
        (b'{"item_id":"a"}', "drafts.text"),
        (b'{"item_id":"a","text":"x","attempt":1}', "drafts.revises"),
        (b'{"item_id":"a","text":"x","type":"served_output"}', "wrong_type"),
    ],
)
def test_a_bad_line_is_a_problem_and_the_next_one_goes_on(line: bytes, what: str) -> None:
    first, second = from_jsonl([line, GOOD])
    assert isinstance(first, Problem)
    assert first.line == 1
    assert what in first.what
    assert not isinstance(second, Problem)


def test_a_csv_row_becomes_a_draft_with_metadata_constraints_and_slices() -> None:
    lines = [
        b"\xef\xbb\xbfitem_id,text,instruction,constraints,metadata,slices\r\n",
        b'a,"A ""big"" kettle.",Describe.,short; plain,"{""name"": ""Kettle""}",new_item;locale:en\r\n',
    ]
    (found,) = from_csv(lines)
    assert isinstance(found, Found)
    draft = found.draft
    assert (found.line, found.ignored) == (2, frozenset())
    assert draft.text == 'A "big" kettle.'
    assert draft.context.items[0].metadata == {"name": "Kettle"}
    assert draft.context.constraints == ("short", "plain")
    assert draft.slices == ("new_item", "locale:en")


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ([b"item_id,text\n", b"a,b\n"], "'instruction' is missing"),
        ([b"item_id,text,instruction,colour\n"], "unknown column 'colour'"),
        ([b"item_id,text,instruction,text\n"], "column 'text' is given twice"),
        ([b"item_id,text,instruction\n", b"a,b\n"], "another number of fields"),
        ([b"item_id,text,instruction,metadata\n", b"a,b,c,{\n"], "metadata: not JSON"),
    ],
)
def test_a_bad_csv_is_a_problem(lines: list[bytes], what: str) -> None:
    (problem,) = from_csv(lines)
    assert isinstance(problem, Problem)
    assert what in problem.what


def test_a_field_of_the_metadata_that_is_given_twice_is_seen_in_a_csv_too() -> None:
    (found,) = from_csv([b"item_id,text,instruction,metadata\n", b'a,b,c,"{""colour"": 1, ""colour"": 2}"\n'])
    assert isinstance(found, Found)
    assert [one.field for one in found.ignored] == ["context.items.metadata.colour"]
