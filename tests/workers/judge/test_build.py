"""Compositions as a BOM declares them, with the verdict cache beneath."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

import fakeredis
import pytest

from schemas.bom import Bom
from schemas.drafts import Draft
from schemas.errors import ModelError
from schemas.verdict_space import Cause, Label
from schemas.verdicts import CriterionVerdict
from tests.services.model_server import ModelServer, echoes, model_server
from tests.workers.bom.sealed import bom_of, family_of_three
from tests.workers.judge.asked import draft, served_at
from tests.workers.judge.composed.members import ABSTAIN, F, P
from tests.workers.judge.counted import Counted
from workers.judge.build import Surroundings, build_audit, build_instrument, calls_of
from workers.judge.cache import VerdictCache
from workers.judge.protocols import Question, Reply
from workers.judge.providers.http import http_client

pytestmark = pytest.mark.anyio

FAIL = {"label": "fail", "reason": "x", "evidence_spans": ["6.1 inch"], "guideline_clause": "G-1"}
PASS = {"label": "pass", "reason": "fine"}
C1 = {"id": "c1", "judge": "j"}
GATE = {"kind": "and_gate", "first": "small", "second": "large"}
REVISES = {"revision_id": "r", "round_id": "r", "judged_sha256": "0" * 64}


class Bench:
    """An instrument of a BOM, its cache, and what its models were asked."""

    def __init__(self, bom: Bom, *, cached: bool = True, **around: Any) -> None:
        clock = asyncio.get_running_loop().time
        cache = VerdictCache(fakeredis.FakeAsyncRedis(), counters=Counted(), clock=clock, rng=random.Random(0))
        self.asked: list[Question] = []
        self.replies: list[Reply | ModelError] = []
        around_ = Surroundings(
            clock=clock, rng=random.Random(0), counters=Counted(), prices={}, cache=cache if cached else None,
            heard=self._heard, **around,
        )  # fmt: skip
        self.instrument, self.audit, self._cache = build_instrument(bom, around_), build_audit(bom, around_), cache

    def _heard(self, question: Question, answer: Reply | ModelError) -> None:
        self.asked.append(question)
        self.replies.append(answer)

    async def judge(self, given: Draft) -> CriterionVerdict:
        (verdict,) = await self.instrument.judge(given)
        return verdict

    async def close(self) -> None:
        await self._cache.close()


def script_by_model(bindings: dict[str, Any], **answers: Any) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Bindings whose judges each say their own thing."""
    judges = {name: {**judge, "file": f"{name}.yaml"} for name, judge in bindings["judges"].items()}
    files = {f"{name}.yaml": json.dumps(answers.get(name, {"default": {"reply": PASS}})).encode() for name in judges}
    return {**bindings, "judges": judges}, files


async def test_an_and_gate_stays_right_behind_the_cache_when_a_text_comes_back_unchanged() -> None:
    bindings, files = script_by_model(family_of_three(j=GATE), large={"default": {"reply": FAIL}})
    bench = Bench(bom_of(C1, bindings=bindings, files=files))
    first = await bench.judge(draft())
    again = await bench.judge(draft(attempt=1, revises=REVISES))
    assert (first.label, again.label) == (P, F)
    assert [(vote.name, vote.cached) for vote in again.votes] == [("small", True), ("large", False)]
    assert (again.cached, again.usage.calls, len(bench.asked)) == (False, 1, 2)
    once_more = await bench.judge(draft(attempt=1, revises=REVISES))
    assert (once_more.label, once_more.cached, once_more.usage.calls, len(bench.asked)) == (F, True, 0, 2)
    await bench.close()


async def test_a_separate_grounding_judge_fails_a_first_draft_with_its_own_spans() -> None:
    always = {**GATE, "applies": "always"}
    bindings, files = script_by_model(family_of_three(j=always), small={"default": {"reply": FAIL}})
    bench = Bench(bom_of(C1, bindings=bindings, files=files), cached=False)
    verdict = await bench.judge(draft())
    assert (verdict.label, verdict.reason, verdict.evidence_spans) == (F, "x", ("6.1 inch",))
    assert [(vote.name, vote.label) for vote in verdict.votes] == [("small", F), ("large", P)]
    await bench.close()


async def test_only_the_member_that_timed_out_is_asked_again() -> None:
    panel = {"kind": "panel", "members": ["small", "large", "third"], "rule": "unanimity"}
    flaky = {"cases": [{"error": "unauthorized", "times": 1}], "default": {"reply": PASS}}
    bindings, files = script_by_model(family_of_three(j=panel), third=flaky)
    bench = Bench(bom_of(C1, bindings=bindings, files=files))
    first, second = await bench.judge(draft()), await bench.judge(draft())
    assert (first.label, first.cause, second.label) == (ABSTAIN, Cause.UNAUTHORIZED, P)
    assert (len(bench.asked), second.usage.calls) == (4, 1)
    await bench.close()


async def test_a_panel_of_three_vendors_outvotes_one() -> None:
    panel = {"kind": "panel", "members": ["third", "large", "small"]}
    bindings, files = script_by_model(family_of_three(j=panel), large={"default": {"reply": FAIL}})
    bench = Bench(bom_of(C1, bindings=bindings, files=files), cached=False)
    verdict = await bench.judge(draft())
    assert (verdict.label, verdict.judge) == (P, "j")
    assert [(v.name, v.judge, v.label) for v in verdict.votes] == [
        ("large", "large@2026-09-15", F), ("small", "small@2026-09-15", P), ("third", "third@2026-09-15", P),
    ]  # fmt: skip
    refused = await bench.judge(draft(context={}))
    assert (refused.label, refused.cause, refused.usage.cost_usd) == (ABSTAIN, Cause.NO_INSTRUCTION, 0.0)


async def samples(server: ModelServer, bom: Bom, *, cached: bool) -> tuple[list[Any], CriterionVerdict]:
    async with http_client(max_connections=calls_of(bom)) as client:
        bench = Bench(bom, cached=cached, endpoints=served_at(server.url, client))
        verdict = await bench.judge(draft())
        await bench.close()
    return [(body["seed"], body["temperature"]) for body in server.requests], verdict


@pytest.mark.parametrize("cached", [True, False])
async def test_the_samples_of_a_consensus_are_requests_of_their_own(cached: bool) -> None:
    consensus = {"kind": "consensus", "member": "small", "samples": 3, "temperature": 0.7}
    model = {"provider": "openai_compatible", "model": "small-2026-09-15", "family": "birch", "seed": 7}
    bom = bom_of(C1, bindings={"judges": {"small": model}, "compositions": {"j": consensus}})

    def by_seed(body: dict[str, Any]) -> str:
        return json.dumps(FAIL if body["seed"] == 8 else PASS)

    async with model_server() as server:
        server.behave(echoes(by_seed))
        asked, verdict = await samples(server, bom, cached=cached)
    assert sorted(asked) == [(7, 0.7), (8, 0.7), (9, 0.7)]
    assert [(vote.name, vote.label) for vote in verdict.votes] == [("j#0", P), ("j#1", F), ("j#2", P)]
    assert (verdict.label, calls_of(bom)) == (P, 3)


async def test_an_ordinal_criterion_is_told_its_scale_and_keeps_its_score() -> None:
    criterion = {"id": "c1", "judge": "small", "form": "ordinal", "scale": {"min": 1, "max": 5, "pass_at": 4}}
    reply = {**FAIL, "score": 3}
    del reply["label"]
    bench = Bench(bom_of(criterion, script={"default": {"reply": reply}}))
    first, second = await bench.judge(draft()), await bench.judge(draft())
    assert "from 1 to 5" in bench.asked[0].prompt.system
    assert (first.label, first.score, first.evidence_spans) == (F, 3, ("6.1 inch",))
    assert (second.cached, second.score, len(bench.asked)) == (True, 3, 1)
    await bench.close()


@pytest.mark.parametrize(("third", "votes"), [(PASS, ["sure", "sure/small", "sure/third"]), (FAIL, None)])
async def test_a_cascade_sends_on_what_its_first_panel_disputes(third: dict[str, Any], votes: list[str] | None) -> None:
    compositions = {
        "j": {"kind": "cascade", "first": "sure", "second": "large"},
        "sure": {"kind": "panel", "members": ["small", "third"], "rule": "unanimity"},
    }
    bindings, files = script_by_model(family_of_three(**compositions), third={"default": {"reply": third}})
    bench = Bench(bom_of(C1, bindings=bindings, files=files), cached=False)
    verdict = await bench.judge(draft())
    assert verdict.label is P
    assert [vote.name for vote in verdict.votes] == (votes or ["sure", "sure/small", "sure/third", "large"])
    assert verdict.votes[0].cause is (None if votes else Cause.PANEL_DISAGREEMENT)
    assert verdict.usage.calls == len(bench.asked) == (2 if votes else 3)


async def test_an_audit_judge_has_its_own_words_under_its_own_key() -> None:
    bindings, files = script_by_model(family_of_three(), large={"default": {"reply": FAIL}})
    bench = Bench(bom_of({"id": "c1", "judge": "small", "audit": "large"}, bindings=bindings, files=files))
    assert (await bench.judge(draft())).label is P
    (audited,) = await bench.audit.judge(draft())
    assert (audited.label, audited.judge) == (F, "large@2026-09-15")
    (again,) = await bench.audit.judge(draft())
    assert (again.label, again.cached) == (Label.FAIL, True)
    assert ((await bench.judge(draft())).label, len(bench.asked)) == (P, 2)
    await bench.close()
