from __future__ import annotations

import pytest

from schemas.topics import TOPICS
from workers.runtime.nearest import did_you_mean, nearest

TOPIC_NAMES = [topic.name for topic in TOPICS]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("draft", "drafts"),
        ("Verdict", "verdicts"),
        ("dead letters", "dead-letters"),
        ("human_queue", "human-queue"),
        ("lables", "labels"),
        ("zzz", None),
        ("foo", None),
        ("", None),
        ("d" * 100_000, None),
    ],
)
def test_a_name_is_suggested_only_when_it_is_close(name: str, meant: str | None) -> None:
    assert nearest(name, TOPIC_NAMES) == meant


def test_it_is_said_in_half_a_sentence_or_not_at_all() -> None:
    assert did_you_mean("draft", TOPIC_NAMES) == "; did you mean drafts?"
    assert did_you_mean("xyz", TOPIC_NAMES) == ""


def test_of_two_alike_the_first_one_is_meant() -> None:
    assert nearest("A_B", ["a_b", "a-b"]) == "a_b"
