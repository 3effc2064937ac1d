"""Old verdicts under new settings: what the gate would have done, and what nobody can know."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.decisions import Decision
from schemas.rating import Scale
from schemas.telemetry import AttemptRecord
from tests.workers.judge.specimens import BOM
from tests.workers.stats_consumer.said import BOM as VERSION
from tests.workers.stats_consumer.said import MONDAY, attempt
from workers.judge.what_if import End, Rounds, Settings, Unknown, end_of

AS_SET = Settings.of(BOM)  # criteria a and b, K = 2
FIRST, REVISED, DROPPED, UNDECIDED = Decision
WEEK = {"start": MONDAY - timedelta(hours=9), "end": MONDAY + timedelta(days=6, hours=15)}


def round_of(*drafts: str, item: str = "i") -> list[AttemptRecord]:
    """A draft is its labels on a and b: ``pf`` passes a and fails b, ``-`` is an abstain, a blank was not asked."""
    words = {"p": "pass", "f": "fail", "-": "abstain"}
    return [
        attempt(item, k, {c: words[word] for c, word in zip("ab", labels, strict=True) if word != " "})
        for k, labels in enumerate(drafts)
    ]


@pytest.mark.parametrize(
    ("drafts", "change", "end"),
    [
        (["pp"], {}, FIRST),
        (["pf", "pp"], {}, REVISED),
        (["pf", "pf", "ff"], {}, DROPPED),
        (["p-"], {}, UNDECIDED),
        (["pf", "pp"], {"retry_budget": 0}, DROPPED),  # there is no second chance
        (["pf", "pf", "pp"], {"retry_budget": 1}, DROPPED),
        (["pf", "pf", "ff"], {"retry_budget": 3}, Unknown.NOT_REVISED),  # nobody wrote a fourth draft
        (["pf", "pp"], {"enforced": frozenset("a")}, FIRST),  # b only watches: the second draft is in vain
        (["p-"], {"enforced": frozenset("a")}, FIRST),
        (["pf"], {}, Unknown.NOT_REVISED),  # still open
        (["f "], {}, Unknown.NOT_REVISED),
        (["f "], {"enforced": frozenset("b")}, Unknown.NOT_ASKED),  # judging stopped at the first fail
        (["f ", "pp"], {"enforced": frozenset("a")}, REVISED),
    ],
)
def test_a_round_ends_as_the_gate_decides(drafts: list[str], change: Mapping[str, object], end: End) -> None:
    assert end_of(round_of(*drafts), replace(AS_SET, **change)) is end  # type: ignore[arg-type]


def scored(score: int | None, label: str, number: int = 0) -> AttemptRecord:
    record = attempt("i", number, {"a": label, "b": "pass"})
    first = record.verdicts[0].model_copy(update={"score": score})
    return record.model_copy(update={"verdicts": (first, record.verdicts[1])})


@pytest.mark.parametrize(
    ("pass_at", "scores", "end"),
    [
        (4, [4], FIRST),
        (5, [4], Unknown.NOT_REVISED),  # it would have failed, and no revision was asked for
        (3, [3, 4], FIRST),  # it would have passed at once
        (5, [3, 5], REVISED),
        (4, [None], Unknown.NOT_SCORED),
    ],
)
def test_a_threshold_weighs_the_scores_on_record(pass_at: int, scores: list[int | None], end: End) -> None:
    records = [scored(s, "pass" if s is None or s >= 4 else "fail", k) for k, s in enumerate(scores)]
    scales = {"a": Scale(min=1, max=5, pass_at=pass_at)}
    assert end_of(records, replace(AS_SET, scales=scales)) is end


@given(st.lists(st.sampled_from(["pp", "pf", "fp", "ff", "p-", "-f"]), min_size=1, max_size=3), st.integers(0, 2))
@settings(max_examples=100, derandomize=True, deadline=None)
def test_fewer_retries_never_serve_more(drafts: list[str], budget: int) -> None:
    served = {FIRST, REVISED}
    now, before = (end_of(round_of(*drafts), replace(AS_SET, retry_budget=k)) for k in (budget, budget + 1))
    assert now not in served or before is now


def test_records_in_any_order_twice_and_of_other_versions_and_weeks_give_the_same_ends() -> None:
    late = round_of("pf", "pp", item="late")
    late[1] = late[1].model_copy(update={"judged_at": WEEK["end"] + timedelta(hours=1)})  # its round began in the week
    elsewhere = [
        attempt("other", labels={"a": "pass", "b": "pass"}, bom="bom-2"),
        attempt("next", labels={"a": "pass", "b": "pass"}, at=WEEK["end"]),
        attempt("before", labels={"a": "pass", "b": "pass"}, at=WEEK["start"] - timedelta(seconds=1)),
        attempt("headless", 1, {"a": "pass", "b": "pass"}),
    ]
    records = [*round_of("pf", "pp"), *late, *elsewhere] * 2
    random.Random(3).shuffle(records)
    rounds = Rounds(VERSION, start=WEEK["start"], end=WEEK["end"])
    for record in records:
        rounds.take(record)
    assert list(rounds.ends(AS_SET).values()) == [REVISED, REVISED]
