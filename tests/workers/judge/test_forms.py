"""Ordinal and pairwise replies: read as strictly as the default contract, weighed alike whatever was shown first."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.rating import Comparison, Scale
from schemas.verdict_space import Cause, Choice, Label
from tests.workers.judge.composed.members import ABSTAIN, F, P, said
from workers.judge.form_objects import PAIRWISE, ordinal_contract
from workers.judge.forms import at_threshold, ordinal, pairwise
from workers.judge.parsing import parse_reply
from workers.judge.schema import NOTHING_DECIDED, PAIRWISE_SCHEMA, ordinal_schema

SCALE = Scale(min=1, max=5, pass_at=4)
GROUNDS = {"reason": "It wanders.", "evidence_spans": ["and so on"], "guideline_clause": "G-1"}


def scored(score: Any, **more: Any) -> str:
    return json.dumps({"score": score, **GROUNDS, **more})


def preferring(preference: Any, **more: Any) -> str:
    return json.dumps({"preference": preference, **GROUNDS, **more})


@pytest.mark.parametrize("score", [1, 2, 3, 4, 5])
def test_a_score_of_the_scale_is_read(score: int) -> None:
    parsed = parse_reply(scored(score), contract=ordinal_contract(SCALE))
    assert (parsed.label, parsed.cause, parsed.spans, parsed.clause) == (score, None, ("and so on",), "G-1")


@pytest.mark.parametrize(
    ("reply", "detail"),
    [
        (scored(0), "score is outside 1 to 5"),
        (scored(6), "score is outside 1 to 5"),
        (scored(90), "score is outside 1 to 5"),
        (scored("4"), "score"),
        (scored(4.0), "score"),
        (scored(True), "score"),
        (scored(None), "score"),
        (scored("pass"), "score"),
        (scored(3, guideline_clause=None), "a score below the best without a guideline_clause"),
        (scored(4, evidence_spans=[]), "a score below the best without evidence_spans"),
        (scored(4, confidence=0.9), "unknown key 'confidence'"),
        ('{"score": 1e999, "reason": "x"}', "overflows"),
        ('{"score": 3, "score": 5, "reason": "x"}', "twice"),
        ('{"label": "pass", "reason": "x"}', "score is missing"),
        ("On a scale of 1 to 5 I give 4", "no JSON object"),
    ],
)
def test_anything_else_is_no_score(reply: str, detail: str) -> None:
    parsed = parse_reply(reply, contract=ordinal_contract(SCALE))
    assert (parsed.label, parsed.cause) == (Label.ABSTAIN, Cause.UNPARSEABLE)
    assert detail in (parsed.detail or "")


def test_the_best_score_needs_no_evidence() -> None:
    assert parse_reply('{"score": 5, "reason": "Clear."}', contract=ordinal_contract(SCALE)).label == 5


@pytest.mark.parametrize("menu", NOTHING_DECIDED)
def test_a_judge_of_any_form_may_decide_nothing(menu: Label) -> None:
    for parsed in (
        parse_reply(json.dumps({"score": menu, "reason": "x"}), contract=ordinal_contract(SCALE)),
        parse_reply(json.dumps({"preference": menu, "reason": "x"}), contract=PAIRWISE),
    ):
        assert parsed.label is menu
        assert parsed.cause is not None


@pytest.mark.parametrize("word", ["Neither", "tie", "Tie", "a", "AB", "draft", "", None, 1, ["A"]])
def test_a_word_that_is_not_on_the_menu_is_no_preference(word: Any) -> None:
    parsed = parse_reply(preferring(word), contract=PAIRWISE)
    assert (parsed.label, parsed.cause) == (Label.ABSTAIN, Cause.UNPARSEABLE)


def test_a_preference_says_where_the_other_text_falls_short_and_a_tie_need_not() -> None:
    assert parse_reply(preferring("A"), contract=PAIRWISE).label is Choice.A
    assert parse_reply('{"preference": "A", "reason": "x"}', contract=PAIRWISE).cause is Cause.UNPARSEABLE
    assert parse_reply('{"preference": "TIE", "reason": "x"}', contract=PAIRWISE).label is Choice.TIE


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
                        st.sampled_from(["score", "preference", "reason", "evidence_spans", "guideline_clause", "x"]),
                        inner, max_size=5)))  # fmt: skip
@settings(derandomize=True, max_examples=1000, deadline=None)
def test_reading_is_total_and_ends_inside_the_menu(value: Any) -> None:
    text = json.dumps(value)
    assert parse_reply(text, contract=ordinal_contract(SCALE)).label in {1, 2, 3, 4, 5, *Label}
    assert parse_reply(text, contract=PAIRWISE).label in {*Choice, *Label}


@given(st.integers(-50, 50), st.integers(1, 60), st.data())
@settings(derandomize=True, max_examples=200, deadline=None)
def test_a_higher_score_never_has_a_lower_label(low: int, steps: int, data: st.DataObject) -> None:
    scale = Scale(min=low, max=low + steps, pass_at=data.draw(st.integers(low + 1, low + steps)))
    labels = [ordinal(scale).said(score).label for score in range(scale.min, scale.max + 1)]
    assert labels == sorted(labels, key=lambda label: label is P)
    assert set(labels) == {P, F}  # the ends of a scale always fall on both sides


@pytest.mark.parametrize(("shown", "swapped", "preference", "label"), [
    (Choice.A, False, Choice.A, P), (Choice.B, False, Choice.B, F), (Choice.TIE, False, Choice.TIE, P),
    (Choice.A, True, Choice.B, F), (Choice.B, True, Choice.A, P), (Choice.TIE, True, Choice.TIE, P),
])  # fmt: skip
def test_a_place_is_turned_back_into_a_text(shown: Choice, swapped: bool, preference: Choice, label: Label) -> None:
    weighed = pairwise(Comparison(), swapped=swapped).said(shown)
    assert (weighed.preference, weighed.label) == (preference, label)


def test_a_tie_passes_only_where_the_charter_says_so() -> None:
    wins_only = Comparison(passes_on=frozenset({Choice.A}))
    assert pairwise(wins_only, swapped=False).said(Choice.TIE).label is F


def test_the_schemas_admit_what_the_contracts_do() -> None:
    for schema in (PAIRWISE_SCHEMA, ordinal_schema(SCALE)):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert set(schema["required"]) == set(schema["properties"])
        assert not {"minimum", "maximum", "if", "maxLength"} & set(json.dumps(schema).replace('"', " ").split())
    valid = jsonschema.Draft202012Validator(ordinal_schema(SCALE)).is_valid
    for word in range(-2, 8):
        read = parse_reply(scored(word), contract=ordinal_contract(SCALE)).label == word
        assert valid(json.loads(scored(word))) is read


def test_a_new_threshold_over_an_old_verdict_needs_no_judge() -> None:
    old = said(P, score=4)
    stricter = at_threshold(old, Scale(min=1, max=5, pass_at=5))
    assert stricter is not None
    assert (stricter.label, stricter.score) == (F, 4)
    assert at_threshold(stricter, SCALE) == old
    abstained = said(ABSTAIN)
    assert at_threshold(abstained, SCALE) is abstained
    assert at_threshold(said(P), SCALE) is None
    assert at_threshold(said(P, score=9), SCALE) is None
