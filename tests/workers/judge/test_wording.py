from __future__ import annotations

import pytest

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
