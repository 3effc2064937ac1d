from __future__ import annotations

import json
from typing import Any

import pytest

from workers.conformance.inputs import BadInput, read_drafts, read_gold, read_rows, read_scores, sample_drafts

ROW = {"item_id": "i", "text": "A kettle.", "context": {"instruction": "Describe."}}


def line(**more: Any) -> bytes:
    return json.dumps({**ROW, **more}).encode()


def test_the_drafts_that_come_along_are_read() -> None:
    assert len({draft.judged_sha256 for draft in sample_drafts()}) == 5


def test_gold_is_one_label_for_all_criteria_or_one_for_each() -> None:
    read = list(read_gold([line(gold="fail"), b" ", line(gold={"b": "abstain"})], criteria=["a", "b"]))
    assert [gold for _, gold in read] == [{"a": "fail", "b": "fail"}, {"b": "abstain"}]


@pytest.mark.parametrize("gold", [None, "Pass", {"a": "yes"}, {"z": "pass"}, {}, 1, ["pass"], {"a": ["pass"]}])
def test_gold_that_is_no_label_is_refused_at_the_door(gold: object) -> None:
    with pytest.raises(BadInput, match="line 1: gold"):
        list(read_gold([line(gold=gold)], criteria=["a", "b"]))


@pytest.mark.parametrize("raw", [b"{", b"[]", b'{"item_id": "i"}', b"[" * 100_000])
def test_a_line_that_is_no_draft_is_named(raw: bytes) -> None:
    with pytest.raises(BadInput, match="line 2: "):
        list(read_drafts([line(), raw]))


def test_scores_come_with_a_length_or_with_their_text() -> None:
    assert list(read_scores([b'{"score": 4, "chars": 120}', b'{"score": 2.5, "text": "four"}'])) == [(4, 120), (2.5, 4)]


@pytest.mark.parametrize("raw", ['{"score": true, "chars": 1}', '{"score": 1}', '{"score": 1, "text": ""}',
                                 '{"score": NaN, "chars": 3}', '{"score": "1", "chars": 3}'])  # fmt: skip
def test_a_score_that_is_no_number_is_refused(raw: str) -> None:
    with pytest.raises(BadInput, match="row 1: "):
        list(read_scores([raw.encode()]))


def test_rows_need_their_fields() -> None:
    with pytest.raises(BadInput, match="line 1: judges is missing"):
        list(read_rows([b"{}"], needs=("judges",)))
