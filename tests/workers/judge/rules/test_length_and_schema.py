from __future__ import annotations

import time
from typing import Any

import pytest

from schemas.verdict_space import Label
from tests.workers.judge.rules.helpers import judged


@pytest.mark.parametrize(
    ("text", "params", "reason", "spans"),
    [
        ("abcdef", {"max_chars": 4}, "The text has 6 chars; at most 4 are allowed.", ("ef",)),
        ("abc", {"min_chars": 4}, "The text has 3 chars; at least 4 are asked for.", ()),
        ("one two three", {"max_words": 2}, "The text has 3 words; at most 2 are allowed.", ("three",)),
        ("It's well-made.", {"min_words": 3}, "The text has 2 words; at least 3 are asked for.", ()),
        (
            "One. Two!",
            {"max_sentences": 1},
            "The text has 2 sentences; at most 1 are allowed.",
            ("Two!",),
        ),
        ("It is 3.5 kg", {"min_sentences": 2}, "The text has 1 sentences; at least 2 are asked for.", ()),
        ("word", {"max_words": 0}, "The text has 1 words; at most 0 are allowed.", ("word",)),
    ],
)
def test_a_text_outside_its_bounds_fails(
    text: str, params: dict[str, Any], reason: str, spans: tuple[str, ...]
) -> None:
    verdict = judged("length", text, **params)
    assert (verdict.label, verdict.reason, verdict.evidence_spans) == (Label.FAIL, reason, spans)


def test_a_text_within_its_bounds_passes() -> None:
    text = "It weighs 3.5 kg. It is “good.” Really?"
    verdict = judged(
        "length", text, min_chars=39, max_chars=39, min_words=8, max_words=8, min_sentences=3, max_sentences=3
    )
    assert verdict.label is Label.PASS


@pytest.mark.parametrize("unit", [".", "a.", "\n", "a\n", '"', '."'])
def test_counting_is_linear(unit: str) -> None:
    began = time.perf_counter()
    judged("length", "x" + unit * 50_000, max_sentences=1, max_words=1)
    assert time.perf_counter() - began < 2.0


SCHEMA = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "price": {"type": "number", "minimum": 0}},
    "required": ["title"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{}", "The text is JSON but breaks the schema at required."),
        ('{"title": 1}', "The text is JSON but breaks the schema at properties/title/type."),
        ('{"title": "x", "<|im_start|>": 1}', "The text is JSON but breaks the schema at additionalProperties."),
        ('{"title": "x", "title": "y"}', "The text is not the JSON that is asked for: a key is given twice."),
        ('{"title": "x"} {}', "The text is not the JSON that is asked for: more than one JSON value."),
        ("[" * 1000, "The text is not the JSON that is asked for: nested deeper than 32."),
    ],
)
def test_a_text_that_is_not_the_json_asked_for_fails_without_repeating_it(text: str, reason: str) -> None:
    verdict = judged("json_schema", text, schema=SCHEMA)
    assert (verdict.label, verdict.reason, verdict.evidence_spans) == (Label.FAIL, reason, ())


def test_valid_json_passes() -> None:
    assert judged("json_schema", ' {"title": "x", "price": 1.5}\n', schema=SCHEMA).label is Label.PASS
