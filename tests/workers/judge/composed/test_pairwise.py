from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Any

import pytest

from schemas.rating import Comparison, OnInconsistent
from schemas.verdict_space import Cause, Choice, Flag, Label
from stats.biases import OrderPairs, position_flip
from tests.data import data_file, data_rows
from tests.workers.bom.sealed import bom_of
from tests.workers.judge.asked import draft, within
from tests.workers.judge.composed.members import ABSTAIN, F, P, Says, prefers
from tests.workers.judge.counted import Counted
from workers.judge.build import Surroundings, build_instrument
from workers.judge.composed.pairwise import PairwiseJudge

pytestmark = pytest.mark.anyio

A, B, TIE = Choice
FLIP, REVERSAL = Flag.ORDER_FLIP, Flag.ORDER_REVERSAL


@pytest.mark.parametrize("draft_first", list(Choice))
@pytest.mark.parametrize("rival_first", list(Choice))
@pytest.mark.parametrize("on_inconsistent", list(OnInconsistent))
async def test_only_the_same_preference_in_both_orders_is_one(
    draft_first: Choice, rival_first: Choice, on_inconsistent: OnInconsistent
) -> None:
    judge = PairwiseJudge(
        Comparison(on_inconsistent=on_inconsistent), draft_first=prefers(draft_first), rival_first=prefers(rival_first)
    )
    verdict = await judge.judge(draft(), deadline=within(5))
    if draft_first is rival_first:
        assert (verdict.preference, verdict.label, verdict.flags) == (draft_first, F if draft_first is B else P, ())
    elif on_inconsistent is OnInconsistent.ABSTAIN:
        assert (verdict.label, verdict.cause, verdict.preference) == (ABSTAIN, Cause.ORDER_INCONSISTENT, None)
    else:
        assert (verdict.label, verdict.preference) == (P, TIE)
    assert (FLIP in verdict.flags) is (draft_first is not rival_first)
    assert (REVERSAL in verdict.flags) is ({draft_first, rival_first} == {A, B})
    assert [(v.name, v.preference) for v in verdict.votes] == [
        ("draft_first", draft_first), ("rival_first", rival_first)
    ]  # fmt: skip
    assert verdict.usage.calls == 2


async def test_one_order_without_an_answer_decides_nothing() -> None:
    for one, other in [(prefers(A), Says(ABSTAIN)), (Says(ABSTAIN), prefers(B))]:
        judge = PairwiseJudge(Comparison(), draft_first=one, rival_first=other)
        verdict = await judge.judge(draft(), deadline=within(5))
        assert (verdict.label, verdict.cause, verdict.preference) == (ABSTAIN, Cause.TIMEOUT, None)


def around() -> Surroundings:
    return Surroundings(clock=asyncio.get_running_loop().time, rng=random.Random(0), counters=Counted(), prices={})


def compared(answers: dict[bool, str]) -> dict[str, Any]:
    """A script that prefers a place: by whether the rival is shown first."""
    grounds = {"reason": "x", "evidence_spans": ["6.1 inch"], "guideline_clause": "G-1"}
    cases = [{"rival_first": order, "reply": {"preference": word, **grounds}} for order, word in answers.items()]
    return {"cases": cases, "default": {"error": "timeout"}}


CRITERION = {"id": "better", "form": "pairwise", "judge": "small"}


async def test_a_judge_that_always_prefers_the_first_place_decides_nothing() -> None:
    bom = bom_of(CRITERION, script=compared({False: "A", True: "A"}))
    (verdict,) = await build_instrument(bom, around()).judge(draft(rival="A phone."))
    assert (verdict.label, verdict.cause, verdict.flags) == (ABSTAIN, Cause.ORDER_INCONSISTENT, (FLIP, REVERSAL))


async def test_a_draft_that_loses_in_both_orders_fails_with_quotes_from_it() -> None:
    bom = bom_of(CRITERION, script=compared({False: "B", True: "A"}))
    (verdict,) = await build_instrument(bom, around()).judge(draft(rival="A phone."))
    assert (verdict.label, verdict.preference, verdict.evidence_spans) == (F, B, ("6.1 inch",))
    assert (verdict.guideline_clause, verdict.judge) == ("G-1", "small@2026-09-15")


async def test_quotes_of_a_rival_that_lost_are_not_the_drafts() -> None:
    bom = bom_of(CRITERION, script=compared({False: "A", True: "B"}))
    (verdict,) = await build_instrument(bom, around()).judge(draft(rival="A phone with 6.1 inch."))
    assert (verdict.label, verdict.evidence_spans, verdict.guideline_clause, verdict.flags) == (P, (), None, ())


async def test_a_draft_without_a_rival_is_missing_evidence_and_costs_nothing() -> None:
    bom = bom_of(CRITERION, script=compared({False: "A", True: "B"}))
    (verdict,) = await build_instrument(bom, around()).judge(draft())
    assert (verdict.label, verdict.cause, verdict.usage.calls) == (Label.MISSING_EVIDENCE, Cause.NO_RIVAL, 0)


async def test_a_rival_beyond_the_size_limit_is_not_asked_about() -> None:
    bom = bom_of(CRITERION, decision={"max_draft_chars": 50})
    (verdict,) = await build_instrument(bom, around()).judge(draft("short", rival="x" * 51))
    assert (verdict.label, verdict.cause, verdict.usage.calls) == (ABSTAIN, Cause.OVERSIZE, 0)


# Counted by hand in the file and given with it: outright A/B reversals when the order is swapped.
REVERSALS = {"gpt-4": 0.144, "gpt-3.5-turbo": 0.084, "claude": 0.310, "bard": 0.593, "vicuna-13b": 0.593}


@pytest.mark.parametrize("name", REVERSALS)
async def test_recorded_judges_show_the_reversal_rates_that_are_on_record(name: str) -> None:
    raw = data_file("pairwise_vicuna80.jsonl").read_bytes()
    answers = {row["ref"]: row["text"] for row in data_rows("vicuna80_answers.jsonl")}
    judge = {"provider": "recorded", "model": name, "family": "recorded", "file": "pairs.jsonl"}
    bom = bom_of(CRITERION, bindings={"judges": {"small": judge}}, files={"pairs.jsonl": raw})
    instrument = build_instrument(bom, around())
    seen: Counter[Flag | None] = Counter()
    pairs: list[tuple[str, str]] = []
    for row in data_rows("pairwise_vicuna80.jsonl"):
        context = {
            "instruction": row["prompt"],
            "items": [{"role": "recording", "metadata": {"record": row["item_id"]}}],
        }
        compared_ = draft(answers[row["A_ref"]], rival=answers[row["B_ref"]], context=context)
        (verdict,) = await instrument.judge(compared_)
        if verdict.cause is Cause.NOT_RECORDED:
            seen[None] += 1
            continue
        seen.update(flag for flag in verdict.flags if flag in (FLIP, REVERSAL))
        one, other = (vote.preference for vote in verdict.votes)
        assert one is not None
        assert other is not None
        pairs.append((one, other))
    assert seen[REVERSAL] / len(pairs) == pytest.approx(REVERSALS[name], abs=0.0006)
    rates = position_flip(OrderPairs.from_candidates(pairs))
    assert (rates.flip_rate, rates.reversal_rate) == (seen[FLIP] / len(pairs), seen[REVERSAL] / len(pairs))
    if name == "vicuna-13b":
        assert seen[FLIP] / len(pairs) == pytest.approx(0.626, abs=0.0006)
