from __future__ import annotations

from typing import Any

import pytest

from schemas.bom import Criterion, Rule
from schemas.errors import BomError
from schemas.verdict_space import Label
from schemas.verdicts import Usage
from tests.workers.judge.rules.helpers import draft
from workers.judge.protocols import Judge
from workers.judge.rules import compile_rules


def criterion(*rules: tuple[str, dict[str, Any]]) -> Criterion:
    return Criterion(
        id="claims", rules=tuple(Rule(rule=name, clause=f"C{n}", params=p) for n, (name, p) in enumerate(rules))
    )


@pytest.mark.parametrize(
    ("rule", "params", "complaint"),
    [
        ("lenght", {}, "there is no such rule; known are banned_phrases, json_schema, length"),
        ("length", {}, "says nothing; give at least one of min_chars"),
        ("length", {"max_chars": -3}, "param 'max_chars' = -3: Input should be greater than or equal to 0"),
        ("length", {"max_chars": "9"}, "param 'max_chars' = '9': Input should be a valid integer"),
        ("length", {"max_char": 9}, "param 'max_char' is unknown; known are min_chars, max_chars"),
        ("length", {"min_words": 9, "max_words": 2}, "min_words 9 is above max_words 2"),
        ("banned_phrases", {}, "bans nothing"),
        ("banned_phrases", {"phrases": [" "]}, "param 'phrases.0' = ' '"),
        ("banned_phrases", {"patterns": ["(?=a)"]}, "no RE2 pattern"),
        ("banned_phrases", {"patterns": ["("]}, "no RE2 pattern"),
        ("banned_phrases", {"patterns": ["a*"]}, "matches the empty text"),
        ("required_mentions", {}, "asks for nothing"),
        ("numeric_claims", {"units": {"battery": "mAhh"}}, "unit 'mAhh' is unknown; known are mAh"),
        ("numeric_claims", {"dimensions": ["weight"]}, "'weight' is unknown; known are"),
        ("numeric_claims", {"rounding": float("2")}, "param 'rounding' = 2.0"),
        ("json_schema", {}, "param 'schema' is missing"),
        ("json_schema", {"schema": {"type": "objekt"}}, "no valid JSON Schema"),
        ("json_schema", {"schema": {"$ref": "https://example.org/s.json"}}, "points outside the schema"),
        ("json_schema", {"schema": {"properties": {"a": {"pattern": "(a+)+"}}}}, "pattern and patternProperties"),
    ],
)
def test_a_mistake_in_a_rule_names_criterion_rule_parameter_value_and_remedy(
    rule: str, params: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(BomError) as error:
        compile_rules(criterion((rule, params)))
    assert str(error.value).startswith(f"criterion 'claims', rule {rule!r}: ")
    assert complaint in str(error.value)


def test_a_property_called_pattern_is_no_pattern() -> None:
    compile_rules(criterion(("json_schema", {"schema": {"properties": {"pattern": {"type": "string"}}}})))


def test_a_criterion_without_rules_has_no_rule_judge() -> None:
    with pytest.raises(BomError, match="has no rules"):
        compile_rules(Criterion(id="claims"))


@pytest.mark.anyio
async def test_the_first_fail_wins_with_its_own_clause_and_costs_nothing() -> None:
    judge: Judge = compile_rules(
        criterion(("length", {"max_words": 9}), ("banned_phrases", {"phrases": ["best"]}), ("length", {"max_words": 1}))
    )
    verdict = await judge.judge(draft("the best phone"), deadline=0.0)
    assert (verdict.criterion_id, verdict.label, verdict.guideline_clause) == ("claims", Label.FAIL, "C1")
    assert verdict.judge == "rule:length+banned_phrases+length"
    assert verdict.usage == Usage(calls=0, cost_usd=0.0)


MISSING = ("required_mentions", {"paths": ["brand"]})
PASSES = ("length", {"max_words": 9})
FAILS = ("length", {"max_words": 1})
NOTHING = ("numeric_claims", {"no_claims": "not_applicable"})


@pytest.mark.parametrize(
    ("rules", "label"),
    [
        ((PASSES,), Label.PASS),
        ((NOTHING,), Label.NOT_APPLICABLE),
        ((NOTHING, PASSES), Label.PASS),
        ((PASSES, MISSING, NOTHING), Label.MISSING_EVIDENCE),
        ((MISSING, FAILS), Label.FAIL),
        ((FAILS, MISSING), Label.FAIL),
    ],
)
def test_a_fail_outranks_missing_evidence_which_outranks_a_pass(rules: tuple[Any, ...], label: Label) -> None:
    assert compile_rules(criterion(*rules)).verdict(draft("two words", {"x": 1})).label is label
