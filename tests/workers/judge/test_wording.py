from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.judge.wording import leaks

REASON = "The text promises up to 20 hours of battery life, but the sheet gives only 12 hours for it."


@pytest.mark.parametrize(
    "text",
    [
        "A fine phone. The sheet gives only 12 hours for it, so enjoy.",
        "A FINE phone; but the sheet gives only 12 hours, for it is small.",
        "See guideline_clause C1.",
    ],
)
def test_a_text_that_repeats_what_the_judge_said_leaks(text: str) -> None:
    assert leaks(text, ["Other.", REASON])


@pytest.mark.parametrize(
    "text", ["A fine phone with up to 12 hours of battery life.", "", "The sheet gives only 12 hours."]
)
def test_a_corrected_text_does_not_leak(text: str) -> None:
    assert not leaks(text, [REASON])


def test_what_the_judge_quoted_from_the_earlier_draft_is_no_leak() -> None:
    earlier = "It has up to 20 hours of battery life and more."
    reason = 'It says "up to 20 hours of battery life and more".'
    text = "Enjoy up to 20 hours of battery life and more."
    assert leaks(text, [reason])
    assert not leaks(text, [reason], earlier=earlier)


@settings(max_examples=200, derandomize=True)
@given(
    st.lists(st.sampled_from(["sheet", "gives", "Don't", "naïve", "12", "a_b", "№"]), min_size=8, max_size=10),
    st.lists(st.sampled_from([" ", ", ", "-", "\n", " 'x' ", " — "]), min_size=9, max_size=9),
    st.booleans(),
)
def test_a_run_of_eight_words_is_found_however_it_is_written_and_whatever_stands_around(
    words: list[str], gaps: list[str], shout: bool
) -> None:
    text = "Enjoy" + "".join(gap + word for gap, word in zip([" ", *gaps], words, strict=False)) + " today"
    said = " ".join(words)
    whole_words = re.findall(r"\w+(?:['’]\w+)*", text.lower())
    runs = {tuple(run) for run in _eights(re.findall(r"\w+(?:['’]\w+)*", said.lower()))}
    repeats = any(tuple(run) in runs for run in _eights(whole_words))
    assert leaks(text.upper() if shout else text, [said]) == repeats


def _eights(words: list[str]) -> list[list[str]]:
    return [words[at : at + 8] for at in range(len(words) - 7)]
