"""Hedging words: what a setting names, and how they are counted in any text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.judge.hedging import ENGLISH, MOST_CHARS, hedges_of, hedging_words


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("", set()),
        (" English ", ENGLISH),
        ("vielleicht, Etwa,", {"vielleicht", "etwa"}),
    ],
)
def test_a_setting_names_a_language_or_words(setting: str, words: set[str]) -> None:
    assert hedges_of(setting) == words


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("Perhaps it is. (Perhaps!) PERHAPS", (3, 5)),
        ("It may-be, maybe", (2, 4)),  # a hyphen parts words
        ("don't", (0, 1)),
        ("", (0, 0)),
        ("probably " * MOST_CHARS, (444, 445)),  # 4,000 characters are 444 words and a piece
    ],
)
def test_words_are_counted_without_their_marks(text: str, counted: tuple[int, int]) -> None:
    assert hedging_words(text, ENGLISH) == counted


@given(st.text())
@settings(max_examples=100, derandomize=True)
def test_any_text_has_at_most_as_many_hedges_as_words(text: str) -> None:
    hedges, words = hedging_words(text, ENGLISH)
    assert 0 <= hedges <= words <= len(text)
