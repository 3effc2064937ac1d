"""Drafts with known answers: each line is an item or says what is wrong with it."""

from __future__ import annotations

import json

import pytest

from schemas.errors import BomError
from workers.bom import load_bom, read_files
from workers.bom.example import example_bom
from workers.bom.labelled_set import CANARY_SET, GOLD_SET, canary_set, read_labelled_set

GOOD = {"item_id": "a", "draft": {"text": "A.", "context": {"instruction": "x"}}, "expected": {"c1": "pass"}}
CRITERIA = frozenset({"c1"})


def lines(*rows: object) -> bytes:
    return b"\n".join(json.dumps(row).encode() for row in rows)


def test_blank_lines_are_passed_over():
    items = read_labelled_set("canary.jsonl", b"\n" + lines(GOOD) + b"\n\n", criteria=CRITERIA)
    assert items[0].as_draft().item_id == "a"
    assert not items[0].injection


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "holds no item"),
        (b"nonsense", "line 1"),
        (lines(GOOD, GOOD), "line 2: the same item or text as in line 1"),
        (lines(GOOD, {**GOOD, "item_id": "b"}), "line 2: the same item or text"),
        (lines({**GOOD, "expected": {"c9": "pass"}}), "'c9' is no must-have criterion"),
        (lines({**GOOD, "expected": {"c1": "maybe"}}), r"line 1: expected\.c1"),
        (lines({**GOOD, "draft": {"text": " "}}), "line 1: text: .*white space"),
        (lines({**GOOD, "note": 1}), "line 1: note"),
    ],
)
def test_a_broken_line_is_named(raw: bytes, said: str):
    with pytest.raises(BomError, match=said):
        read_labelled_set("canary.jsonl", raw, criteria=CRITERIA)


def test_a_bom_without_a_canary_set_says_so():
    with pytest.raises(BomError, match=r"no canary set; write canary\.jsonl"):
        canary_set({}, CRITERIA)


def test_the_examples_gold_items_are_fit_to_be_mixed_in() -> None:
    """Both answers on every criterion, no text that the canary set has, and ids that tell nothing."""
    bom = load_bom(read_files(example_bom()))
    gold = read_labelled_set(GOLD_SET, bom.files[GOLD_SET])
    for criterion in bom.charter.criteria.must_have:
        assert {item.expected[criterion.id] for item in gold} == {"pass", "fail"}
    canary = read_labelled_set(CANARY_SET, bom.files[CANARY_SET])
    assert not {item.as_draft().text for item in gold} & {item.as_draft().text for item in canary}
    assert not any("gold" in item.item_id for item in gold)
