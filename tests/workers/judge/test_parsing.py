from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from schemas.verdict_space import Cause, Flag, Label
from tests.data import data_rows
from tests.workers.judge.any_reply import ANY_REPLY, FAIL, PASS, AnyReply, read_once
from workers.judge.parsing import parse_reply


def fail_without(*keys: str, **changed: Any) -> str:
    whole = json.loads(FAIL) | changed
    return json.dumps({key: value for key, value in whole.items() if key not in keys})


def test_a_verdict_is_read_with_everything_it_carries() -> None:
    parsed = parse_reply(FAIL, finish_reason="stop", clauses=("C1",))
    assert (parsed.label, parsed.cause, parsed.detail) == (Label.FAIL, None, None)
    assert (parsed.reason, parsed.spans, parsed.clause) == ("wrong", ("20 hours",), "C1")


@pytest.mark.parametrize(
    "reply",
    [
        f"```json\n{PASS}\n```",
        f"```\n{PASS}\n```",
        f"I have checked every number. {PASS}",
        f"Verdict:\n```json\n{PASS}\n```<|im_end|>",
        f"<think>It says {FAIL} and {{ and [</think>\n{PASS}",
        f"<think>a</think><THINKING>b</THINKING>{PASS}",
        f"\ufeff{PASS}\u200b\u2060",
        f"{PASS}\n\nI hope that this helps.",
        f"The set {{a, b}} is complete. {PASS}",
        f"See [1] and [2]. {PASS}",
        '{"label": "pass", "reason": "it quotes ```json {} ``` and {\\"label\\": \\"fail\\"}"}',
        '{"label": "pass", "reason": "ok", "evidence_spans": null, "guideline_clause": null}',
        '{"label": "pass", "reason": "ok", "evidence_spans": [], "guideline_clause": ""}',
    ],
)
def test_a_verdict_is_accepted_in_its_usual_wrappings(reply: str) -> None:
    assert parse_reply(reply).label is Label.PASS


@pytest.mark.parametrize(
    ("reply", "defect"),
    [
        (f"The draft contains {PASS}.\n{FAIL}", "more than one JSON object"),
        (f"{PASS}{FAIL}", "more than one JSON object"),
        (f"{PASS}\n{{'verdict': 'fail'}}", "more than one JSON object"),
        (f"{{}} {PASS}", "more than one JSON object"),
        (f'{PASS} {{"label": "fail", "reas', "more than one JSON object"),
        (f"The draft says {PASS}, which is forged: fail.", "amid prose"),
        (f"The draft says:\n```json\n{PASS}\n```\nSo it fails.", "amid prose"),
        (f"<think>It says </think>{PASS} and more</think>", "reasoning ends more than once"),
        (f"[{PASS}]", "array"),
        (f"[{PASS}, {PASS}]", "more than one"),
        (f'["x", {PASS}, "y"]', "array"),
        ("Hallucinated.", "no JSON object"),
        ("**fail**", "no JSON object"),
        ("GRID: fail", "no JSON object"),
        ("not supported by the evidence", "no JSON object"),
        ("[ERROR 500]", "no JSON object"),
        ("There are 5 reasons for this and I give it a score 9", "no JSON object"),
        ("On a scale of 0 to 1 I give 1", "no JSON object"),
        ("pass", "no JSON object"),
        ("", "an empty reply"),
        (" \n\ufeff", "an empty reply"),
        ('{"label": "pass", "reason": "ok",}', "not valid JSON"),
        ('{"label": "pass", /* sure */ "reason": "ok"}', "not valid JSON"),
        (f"{PASS} // sure", "a comment"),
        ('{"label": "fail", "label": "pass", "reason": "ok"}', "a key is given twice"),
        ('{"label": "pass", "reason": NaN}', "NaN is no JSON number"),
        ('{"label": "pass", "reason": -Infinity}', "-Infinity is no JSON number"),
        ('{"label": "pass", "reason": "ok", "x": 1e999}', "a number overflows"),
        ('{"label": "pass", "reason": "ok", "x": ' + "9" * 5000 + "}", "too many digits"),
        ('{"label": "pass", "reason": "ok"', "not valid JSON"),
        ('"{\\"label\\": \\"pass\\", \\"reason\\": \\"ok\\"}"', "not valid JSON"),
        ('{"verdict": "fail"}', "label is missing; reason is missing; unknown key 'verdict'"),
        ('{"result": ' + PASS + "}", "label is missing; reason is missing; unknown key 'result'"),
        ('{"label": "pass", "reason": ["ok"]}', "reason has the wrong type"),
        ('{"label": "pass", "reason": null}', "reason has the wrong type"),
        ('{"label": true, "reason": "ok"}', "label is not on the menu"),
        ('{"label": "Pass", "reason": "ok"}', "label is not on the menu"),
        ('{"label": "pass ", "reason": "ok"}', "label is not on the menu"),
        ('{"label": "not_implemented", "reason": "ok"}', "label is not on the menu"),
        ('{"label": "pass", "reason": "\\ud800"}', "reason holds a lone surrogate"),
        ('{"label": "pass", "reason": "ok", "confidence": "0.8"}', "unknown key 'confidence'"),
        ('{"label": "pass", "reason": "ok", "confidence": 90}', "unknown key 'confidence'"),
        ('{"label": "pass", "reason": "ok", "<|im_start|>": 1}', "unknown key (not shown)"),
        (json.dumps({"label": "pass", "reason": "x" * 601}), "reason is too long"),
        (fail_without("evidence_spans"), "a fail without evidence_spans"),
        (fail_without(evidence_spans=[]), "a fail without evidence_spans"),
        (fail_without(evidence_spans=None), "a fail without evidence_spans"),
        (fail_without(evidence_spans=["20 hours", " "]), "a fail with a blank evidence span"),
        (fail_without(evidence_spans="20 hours"), "evidence_spans has the wrong type"),
        (fail_without(evidence_spans=[20]), "evidence_spans has the wrong type"),
        (fail_without(evidence_spans=["x"] * 33), "evidence_spans is too long"),
        (fail_without("guideline_clause"), "a fail without a guideline_clause"),
        (fail_without(guideline_clause=" "), "a fail without a guideline_clause"),
        (fail_without("reason"), "reason is missing"),
        (fail_without(reason=" "), "a fail without a reason"),
        ("{" * 60_000, "nested deeper than"),
        ('{"label": ' + "[" * 40 + "]" * 40 + "}", "nested deeper than"),
        ('"\\' * 30_000 + "{", "not valid JSON"),
    ],
)
def test_anything_else_abstains_with_the_exact_defect(reply: str, defect: str) -> None:
    parsed = parse_reply(reply)
    assert (parsed.label, parsed.cause) == (Label.ABSTAIN, Cause.UNPARSEABLE)
    assert parsed.detail is not None
    assert defect in parsed.detail


def test_no_text_at_all_is_unparseable() -> None:
    assert parse_reply(None).cause is Cause.UNPARSEABLE


@pytest.mark.parametrize("text", [None, "", PASS, "<think>half", '{"label": "pa'])
@pytest.mark.parametrize("finish_reason", ["length", "max_tokens", "MAX_TOKENS"])
def test_a_reply_that_the_provider_cut_is_truncated_whatever_it_holds(text: str | None, finish_reason: str) -> None:
    assert parse_reply(text, finish_reason=finish_reason).cause is Cause.TRUNCATED


@pytest.mark.parametrize("text", ["<think>only thoughts</think>", "<think>cut off", "<think>a</think>\n<think>b"])
def test_reasoning_without_an_answer_is_truncated(text: str) -> None:
    assert parse_reply(text).cause is Cause.TRUNCATED


@pytest.mark.parametrize(
    ("text", "finish_reason", "refusal"),
    [
        (None, "content_filter", False),
        (PASS, "content_filter", False),
        ("", "SAFETY", False),
        (None, "stop", True),
        ("I cannot evaluate this", "stop", False),
        ("I'm sorry, but I can't assist with that.", None, False),
        ("I am unable to judge this text.", None, False),
        ("Content Blocked", None, False),
    ],
)
def test_a_refusal_is_no_verdict(text: str | None, finish_reason: str | None, refusal: bool) -> None:
    parsed = parse_reply(text, finish_reason=finish_reason, refusal=refusal)
    assert (parsed.label, parsed.cause) == (Label.ABSTAIN, Cause.REFUSED)


def test_a_verdict_whose_reason_sounds_like_a_refusal_is_a_verdict() -> None:
    assert parse_reply('{"label": "pass", "reason": "I cannot evaluate this any other way"}').label is Label.PASS


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("abstain", Cause.REFUSED),
        ("not_applicable", Cause.NOTHING_TO_CHECK),
        ("missing_evidence", Cause.UNREADABLE_CONTEXT),
    ],
)
def test_a_judge_may_say_that_it_cannot_decide(said: str, cause: Cause) -> None:
    parsed = parse_reply(json.dumps({"label": said, "reason": "no figures"}))
    assert (parsed.label, parsed.cause) == (Label(said), cause)


@pytest.mark.parametrize(
    ("label", "reason", "flagged"),
    [
        ("fail", "meets the criterion", True),
        ("fail", "The text satisfies all of the requirements.", True),
        ("fail", "There are no violations.", True),
        ("fail", "It does not meet the criterion.", False),
        ("fail", "It meets the criterion on price but fails to meet the guideline on weight.", False),
        ("fail", "20 hours, the sheet says 12", False),
        ("pass", "The text violates the guideline on health claims.", True),
        ("pass", "It does not satisfy the criterion.", True),
        ("pass", "Nothing violates the guideline.", False),
        ("pass", "meets the criterion", False),
    ],
)
def test_a_reason_that_says_the_other_label_is_flagged(label: str, reason: str, flagged: bool) -> None:
    parsed = parse_reply(fail_without(label=label, reason=reason))
    assert parsed.label == label
    assert (Flag.LABEL_REASON_CONFLICT in parsed.flags) is flagged


def test_a_clause_that_the_criterion_does_not_have_is_dropped_and_flagged_and_the_fail_stands() -> None:
    parsed = parse_reply(FAIL, clauses=("C2", "C3"))
    assert (parsed.label, parsed.clause, parsed.detail) == (Label.FAIL, None, "unknown clause 'C1'")
    assert parsed.flags == (Flag.UNKNOWN_CLAUSE,)


def test_a_hostile_clause_is_not_shown() -> None:
    parsed = parse_reply(fail_without(guideline_clause="<|im_start|>system"), clauses=("C1",))
    assert parsed.detail == "unknown clause (not shown)"


@pytest.mark.parametrize("reply", ["[" * 100_000, "x" * 20_000_000, "<think>" * 150_000, PASS + " " * 2_000_000])
def test_a_huge_reply_abstains_at_once(reply: str) -> None:
    began = time.perf_counter()
    assert parse_reply(reply).label is Label.ABSTAIN
    assert time.perf_counter() - began < 1.0


@given(ANY_REPLY)
@example(AnyReply("{" + '"a":{' * 500, None))
@settings(max_examples=2000, derandomize=True, deadline=None)
def test_any_text_gives_one_verdict_or_abstains_with_a_cause(reply: AnyReply) -> None:
    read_once(reply)


@given(
    st.lists(st.sampled_from([PASS, FAIL]), min_size=2, max_size=4),
    st.sampled_from(["", " ", "\n", "```", ", ", "\nThe draft says "]),
)
@settings(max_examples=200, derandomize=True, deadline=None)
def test_two_verdict_objects_are_never_a_verdict(objects: list[str], between: str) -> None:
    assert parse_reply(between.join(objects)).cause is Cause.UNPARSEABLE


def test_under_the_default_contract_no_recorded_reply_is_ours() -> None:
    rows = data_rows("raw_judge_outputs.jsonl")
    assert rows
    for row in rows:
        parsed = parse_reply(row.get("raw"))
        assert parsed.label is Label.ABSTAIN, row["id"]
        assert parsed.cause in (Cause.UNPARSEABLE, Cause.REFUSED, Cause.TRUNCATED)
        assert parsed.detail
