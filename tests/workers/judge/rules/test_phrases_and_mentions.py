from __future__ import annotations

import time
from typing import Any

import pytest

from schemas.verdict_space import Cause, Label
from tests.workers.judge.rules.helpers import judged


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("A miracle cure.", "miracle cure"),
        ("A MIRACLE\u00a0 \n cure.", "MIRACLE\u00a0 \n cure"),
        ("A miracle-cure.", "miracle-cure"),
        ("A mira\u200bcle cu\u00adre.", "mira\u200bcle cu\u00adre"),
        ("A mіrасlе сurе.", "mіrасlе сurе"),  # Cyrillic letters
        ("A ｍiracle cure.", "ｍiracle cure"),
        ("It’s the best!", "It’s the best"),
    ],
)
def test_a_banned_phrase_is_found_however_it_is_written(text: str, span: str) -> None:
    verdict = judged("banned_phrases", text, phrases=["Miracle cure", "it's the best"])
    assert (verdict.label, verdict.evidence_spans) == (Label.FAIL, (span,))
    assert verdict.guideline_clause == "C1"
    assert verdict.reason == "The text uses 1 banned wording."


@pytest.mark.parametrize("text", ["bestow", "the second-bestseller", "miracle of a cure"])
def test_a_phrase_is_whole_words_in_their_order(text: str) -> None:
    assert judged("banned_phrases", text, phrases=["best", "miracle cure"]).label is Label.PASS


def test_a_pattern_is_matched_without_regard_to_case() -> None:
    verdict = judged("banned_phrases", "Guaranteed to cure, GUARANTEE!", patterns=[r"guarantee(d to \w+)?"])
    assert verdict.evidence_spans == ("Guaranteed to cure", "GUARANTEE")


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|aa)+b", r"a*a*a*a*a*b", r"(.*)(.*)(.*)x"])
def test_no_pattern_and_no_draft_hang_the_worker(pattern: str) -> None:
    began = time.perf_counter()
    judged("banned_phrases", "a" * 20_000 + "c", patterns=[pattern])
    assert time.perf_counter() - began < 2.0


def test_what_is_there_passes_and_what_is_not_fails_without_a_span() -> None:
    assert judged("required_mentions", "By ACME\u00a0Corp.", mentions=["acme corp"]).label is Label.PASS
    verdict = judged("required_mentions", "By nobody.", mentions=["Acme", "nobody"])
    assert (verdict.label, verdict.reason) == (Label.FAIL, 'The text does not mention "Acme".')
    assert (verdict.evidence_spans, verdict.flags, verdict.guideline_clause) == ((), (), "C1")


@pytest.mark.parametrize(
    ("text", "label"),
    [("The Fold 5 by Acme", Label.PASS), ("The Fold by Acme", Label.FAIL), ("The Fold 5", Label.FAIL)],
)
def test_a_mention_may_come_from_the_metadata(text: str, label: Label) -> None:
    metadata = {"brand": {"name": "ACME"}, "models": ["Fold", 5]}
    verdict = judged("required_mentions", text, metadata, paths=["brand.name", "models"])
    assert verdict.label is label
    assert verdict.reason is None or "ACME" not in verdict.reason


@pytest.mark.parametrize("metadata", [None, {}, {"brand": None}, {"brand": " "}, {"brand": {}}])
def test_a_mention_that_the_metadata_lacks_is_missing_evidence(metadata: Any) -> None:
    verdict = judged("required_mentions", "x", metadata, paths=["brand"])
    assert (verdict.label, verdict.cause) == (Label.MISSING_EVIDENCE, Cause.UNREADABLE_CONTEXT)


def test_patterns_that_cannot_be_joined_are_searched_for_one_by_one() -> None:
    patterns = [r"(?P<word>wonder)ful", r"(?P<word>magic)al"]  # two groups of one name
    assert judged("banned_phrases", "A magical lamp.", patterns=patterns).evidence_spans == ("magical",)
    assert judged("banned_phrases", "A plain lamp.", patterns=patterns).label is Label.PASS


@pytest.mark.parametrize(
    ("name", "text", "label"),
    [
        ("Orla", "Orlando, then Orla", Label.PASS),
        ("Orla", "Orlando and Corla", Label.FAIL),
        ("Orla Desk", "the orla-desk", Label.PASS),
        ("C++", "in c++ and more", Label.PASS),
    ],
)
def test_a_name_is_mentioned_as_whole_words(name: str, text: str, label: Label) -> None:
    assert judged("required_mentions", text, {"name": name}, paths=["name"]).label is label
