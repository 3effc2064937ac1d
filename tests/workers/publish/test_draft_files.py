"""Drafts from files: a good line is a draft, a bad one a problem that names line and field."""

from __future__ import annotations

import pytest

from workers.publish.draft_files import Problem, from_csv, from_jsonl

GOOD = b'{"item_id":"a","text":"A kettle.","context":{"instruction":"Describe."}}'


def test_good_lines_become_drafts_and_blank_ones_are_passed_over() -> None:
    found = list(from_jsonl([GOOD, b"\n", GOOD]))
    assert [n for n, _ in found] == [1, 3]  # type: ignore[misc]


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
    ((number, draft),) = from_csv(lines)  # type: ignore[misc]
    assert number == 2
    assert draft.text == 'A "big" kettle.'
    assert draft.context.items[0].metadata == {"name": "Kettle"}
    assert draft.context.constraints == ("short", "plain")
    assert draft.slices == ("new_item", "locale:en")


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ([b"item_id,text\n", b"a,b\n"], "'instruction' is missing"),
        ([b"item_id,text,instruction,colour\n"], "unknown column 'colour'"),
        ([b"item_id,text,instruction\n", b"a,b\n"], "another number of fields"),
        ([b"item_id,text,instruction,metadata\n", b"a,b,c,{\n"], "metadata: not JSON"),
    ],
)
def test_a_bad_csv_is_a_problem(lines: list[bytes], what: str) -> None:
    (problem,) = from_csv(lines)
    assert isinstance(problem, Problem)
    assert what in problem.what
