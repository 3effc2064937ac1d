from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from schemas.verdict_space import Cause, Choice, Label
from tests.data import data_rows
from workers.judge.contracts import contract_named
from workers.judge.parsing import parse_reply
from workers.judge.reading import ParsedReply


def read(name: str, reply: str | dict[str, Any]) -> ParsedReply[Any]:
    text = reply if isinstance(reply, str) else json.dumps(reply)
    return parse_reply(text, contract=contract_named(name))


@pytest.mark.parametrize(
    ("name", "reply", "label"),
    [
        ("winner-score", {"reasoning": "r", "winner": "A", "score": 8}, Choice.A),
        ("winner-score", {"reasoning": "r", "winner": "Tie", "score": 5}, Choice.TIE),
        ("winner", {"winner": "B", "reasoning": "r"}, Choice.B),
        ("pass-score", {"reason": "r", "pass": True, "score": 1.0}, Label.PASS),
        ("pass-score", {"reason": "r", "pass": False, "score": 0}, Label.FAIL),
        ("pass-score", {"reason": "r", "pass": False}, Label.FAIL),
        ("criteria-scores", {"a": {"reason": "r", "score": "5"}, "b": {"reason": "r", "score": "3"}}, 3),
        ("criteria-scores:a", {"a": {"reason": "r", "score": "5"}, "b": {"reason": "r", "score": "3"}}, 5),
        ("yes-no", "Yes.", Label.PASS),
        ("yes-no", "No, it does not.", Label.FAIL),
        ("yes-no", "**No**\nBecause.", Label.FAIL),
        ("one-two-three", "First is better.\n\n1", Choice.A),
        ("one-two-three", "3", Choice.TIE),
        ("output-a-b", "Output (b)", Choice.B),
        ("output-a-b", "Long.\nTherefore, Output (a) is better.", Choice.A),
        ("compliance", "2_full_refusal", 2),
    ],
)
def test_a_reply_in_its_contract_is_read(name: str, reply: Any, label: Any) -> None:
    parsed = read(name, reply)
    assert (parsed.label, parsed.cause) == (label, None)


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("winner-score", {"reasoning": "r", "winner": "tie", "score": 5}),
        ("winner-score", {"reasoning": "r", "winner": "Neither", "score": 5}),
        ("winner-score", {"reasoning": "r", "winner": "A", "score": "8"}),
        ("winner-score", {"reasoning": "r", "winner": "A"}),
        ("winner-score", {"reasoning": ["r"], "winner": "A", "score": 8}),
        ("winner", {"winner": "Tie", "reasoning": "r"}),
        ("pass-score", {"reason": "r", "pass": "true", "score": 1}),
        ("pass-score", {"reason": "r", "pass": True, "score": "0.8"}),
        ("pass-score", {"reason": "r", "pass": True, "score": 90}),
        ("criteria-scores", {}),
        ("criteria-scores", {"a": {"reason": "r", "score": "6"}}),
        ("criteria-scores:c", {"a": {"reason": "r", "score": "5"}, "b": {"reason": "r", "score": "3"}}),
        ("yes-no", "No doubt it does."),
        ("yes-no", "I would say yes."),
        ("one-two-three", "There are 5 reasons, score 9"),
        ("one-two-three", "1\nbecause it is better"),
        ("one-two-three", "8 6\n\nExplanation"),
        ("output-a-b", "Neither Output (a) nor Output (b)."),
        ("output-a-b", "Long.\nTherefore, Output (b)"),  # cut off
        ("compliance", "full refusal"),
        ("verdict", {"reasoning": "r", "winner": "A", "score": 8}),
    ],
)
def test_anything_else_abstains(name: str, reply: Any) -> None:
    parsed = read(name, reply)
    assert (parsed.label, parsed.cause) == (Label.ABSTAIN, Cause.UNPARSEABLE)
    assert parsed.detail


def test_a_score_out_of_range_is_absent_with_its_cause_and_never_clamped() -> None:
    parsed = read("winner-score", {"reasoning": "r", "winner": "B", "score": 95})
    assert (parsed.label, dict(parsed.scores), parsed.detail) == (Choice.B, {}, "score is out of range, hence absent")


def test_an_unknown_contract_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        contract_named("verdikt")


CONTRACT_OF = {  # how what a recorded judge was asked for begins -> the contract
    'JSON {"reasoning"': "winner-score",
    'JSON {"winner"': "winner",
    "JSON {criterion": "criteria-scores",
    "Yes or No": "yes-no",
    "prose, then": "one-two-three",
    "the words": "output-a-b",
    "one of 1_full": "compliance",
}

READ_AS = {  # class of recorded replies -> what its contract makes of them
    "blocked_by_provider": {"refused"},
    "empty": {"unparseable"},
    "label_inside_prose": {"unparseable"},
    "label_then_reason": {"pass", "fail"},
    "label_without_reason": {"pass", "fail"},
    "no_verdict": {"unparseable"},
    "prose_then_label": {"A", "B"},
    "prose_without_label": {"unparseable"},
    "refusal": {"refused"},
    "refusal_truncated": {"unparseable"},
    "schema_missing_other_key": {"unparseable"},
    "schema_missing_verdict": {"unparseable"},
    "schema_reason_not_a_string": {"unparseable"},
    "schema_score_wrong_type": {"unparseable"},
    "schema_verdict_out_of_menu": {"unparseable"},
    "undecodable_json_error_only": {"unparseable"},
    "valid_json": {"A", "B"},
    "valid_json_nested": {"1", "2", "3", "4", "5"},
    "wrong_protocol_two_scores": {"unparseable"},
}

UPSTREAM = {"yes": "pass", "no": "fail", "first": "A", "second": "B", "A": "A", "B": "B"}


def test_every_recorded_reply_is_read_as_labelled_or_abstains() -> None:
    seen = Counter[str]()
    for row in data_rows("raw_judge_outputs.jsonl"):
        name = next(contract for begins, contract in CONTRACT_OF.items() if row["asked_for"].startswith(begins))
        parsed = parse_reply(row.get("raw"), contract=contract_named(name))
        outcome = str(parsed.cause or parsed.label)
        assert outcome in READ_AS[row["class"]], (row["id"], row["class"], outcome, parsed.detail)
        if parsed.cause is None and row["upstream_reading"]:
            assert outcome == UPSTREAM[row["upstream_reading"]], row["id"]
        seen[row["class"]] += 1
    assert set(seen) == set(READ_AS)
