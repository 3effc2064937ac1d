from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import Any

import pytest

from schemas.bom import Bom, CostCaps, DecisionSettings
from schemas.errors import SettingsError
from schemas.verdict_space import Cause, Flag, Label
from schemas.verdicts import CriterionVerdict
from tests.services.model_server import answers, model_server, refuses, says, tool_use
from tests.workers.judge.asked import binding, within
from tests.workers.judge.counted import Counted
from tests.workers.judge.specimens import BOM, CHARTER, draft
from workers.judge.build import Surroundings, build_instrument
from workers.judge.fallback_judge import FallbackJudge
from workers.judge.instrument import Instrument
from workers.judge.limits.endpoint_limits import FAILURES_IN_A_ROW, Allowance, EndpointLimits
from workers.judge.pricing import Price
from workers.judge.providers.endpoint import Endpoint
from workers.judge.providers.endpoints import Endpoints, Reach
from workers.judge.providers.http import http_client

pytestmark = pytest.mark.anyio
VERDICT = {"label": "pass", "reason": "Fine.", "evidence_spans": None, "guideline_clause": None}
PASS = '{"label": "pass", "reason": "Fine."}'
PRICES = {
    "judge-1": Price(input_per_mtok=0, output_per_mtok=1000),
    "claude-judge-20260901": Price(input_per_mtok=0, output_per_mtok=0),
}


class Fixed:
    """A judge that always says the same."""

    criterion_id = "a"

    def __init__(self, label: Label, cause: Cause | None = None, judge: str = "first") -> None:
        self.verdict, self.asked = CriterionVerdict(criterion_id="a", label=label, cause=cause, judge=judge), 0

    async def judge(self, draft: Any, *, deadline: float) -> CriterionVerdict:
        self.asked += 1
        return self.verdict


@pytest.mark.parametrize(
    ("cause", "broken", "replaced"),
    [
        (None, True, False),
        (Cause.OVER_BUDGET, False, True),
        (Cause.PROVIDER_ERROR, True, True),
        (Cause.TIMEOUT, True, True),
        (Cause.PROVIDER_ERROR, False, False),
        (Cause.UNPARSEABLE, True, False),
        (Cause.REFUSED, True, False),
        (Cause.SAME_FAMILY, True, False),
    ],
)
async def test_only_a_broken_endpoint_or_a_spent_budget_is_replaced(
    cause: Cause | None, broken: bool, replaced: bool
) -> None:
    first = Fixed(Label.FAIL if cause is None else Label.ABSTAIN, cause)
    second = Fixed(Label.PASS, judge="second")
    judge = FallbackJudge(first, second, broken=lambda: broken, counters=Counted())
    verdict = await judge.judge(draft(), deadline=within(5))
    assert (second.asked, verdict.judge) == ((1, "second") if replaced else (0, "first"))
    assert (Flag.FALLBACK_JUDGE in verdict.flags) == replaced
    assert (Flag.OVER_BUDGET in verdict.flags) == (cause is Cause.OVER_BUDGET)


def bom(**caps: Any) -> Bom:
    """One criterion, a model of one vendor, and another vendor's for when that one is broken or too dear."""
    charter = CHARTER.model_copy(
        update={"criteria": CHARTER.criteria.model_validate({"must_have": [{"id": "a", "judge": "m"}]})}
    )
    return replace(
        BOM,
        charter=charter,
        rubrics={"a": "Judge it."},
        bindings={
            "m": binding(fallback="other", max_attempts=1),
            "other": binding(provider="anthropic", model="claude-judge-20260901", family="claude", endpoint="second"),
        },
        decision=DecisionSettings(cost_caps=CostCaps(**caps)),
    )


def instrument(judged: Bom, url: str, client: Any, counters: Counted, **around: Any) -> Instrument:
    reach = {
        name: Reach(Endpoint(url), EndpointLimits(name, Allowance(50), counters=counters))
        for name in ("default", "second")
    }
    surroundings = Surroundings(
        clock=asyncio.get_running_loop().time, rng=random.Random(0), counters=counters,
        endpoints=Endpoints(client, reach), **{"prices": PRICES, **around},
    )  # fmt: skip
    return build_instrument(judged, surroundings)


async def test_while_the_endpoint_is_broken_the_other_vendor_judges() -> None:
    counted = Counted()
    async with model_server() as server, http_client(max_connections=50) as client:

        async def behaviour(request: Any) -> Any:
            other = request.path.endswith("/messages")
            return await (says(tool_use(VERDICT), model="claude-judge-20260901") if other else refuses(500))(request)

        server.behave(behaviour)
        judge = instrument(bom(), server.url, client, counted)
        verdicts = [(await judge.judge(draft()))[0] for _ in range(FAILURES_IN_A_ROW + 5)]
    first, last = verdicts[0], verdicts[-1]
    assert (first.label, first.cause, first.judge) == (Label.ABSTAIN, Cause.PROVIDER_ERROR, "judge-1")
    assert (last.label, last.judge) == (Label.PASS, "claude-judge-20260901")
    assert last.flags == (Flag.FALLBACK_JUDGE,)
    assert (last.usage.calls, last.usage.cost_usd) == (1, 0.0)
    assert counted.counts["fallback_judgements a provider_error"] == 6


async def test_when_the_budget_is_spent_the_fallback_judges_and_it_is_flagged() -> None:
    async with model_server() as server, http_client(max_connections=50) as client:

        async def behaviour(request: Any) -> Any:
            other = request.path.endswith("/messages")
            return await (says(tool_use(VERDICT), model="claude-judge-20260901") if other else answers(PASS))(request)

        server.behave(behaviour)
        judge = instrument(bom(per_hour_usd=0.51), server.url, client, Counted())
        first, second = [(await judge.judge(draft()))[0] for _ in range(2)]
    # by hand: at most 500 tokens at 0.001 dollars each; the first took 30 of them, and 0.48 are no room for another 500
    assert (first.judge, first.flags, first.usage.cost_usd) == ("judge-1", (), pytest.approx(0.03))
    assert (second.judge, set(second.flags)) == ("claude-judge-20260901", {Flag.FALLBACK_JUDGE, Flag.OVER_BUDGET})


async def test_without_a_fallback_what_is_over_budget_abstains_and_is_flagged() -> None:
    judged = bom(max_calls=1)
    judged = replace(judged, bindings={"m": binding()})
    async with model_server() as server, http_client(max_connections=50) as client:
        server.behave(answers(PASS))
        judge = instrument(judged, server.url, client, Counted())
        verdicts = [verdict for (verdict,) in await asyncio.gather(*(judge.judge(draft()) for _ in range(20)))]
    over = [verdict for verdict in verdicts if verdict.cause is Cause.OVER_BUDGET]
    assert (len(over), len(server.requests)) == (19, 1)
    assert {(verdict.label, verdict.flags, verdict.usage.cost_usd) for verdict in over} == {
        (Label.ABSTAIN, (Flag.OVER_BUDGET,), 0.0)
    }


@pytest.mark.parametrize("missing", ["judge-1", "claude-judge-20260901"])
async def test_a_cap_on_cost_with_a_model_of_unknown_price_is_refused_at_the_start(missing: str) -> None:
    prices = {model: price for model, price in PRICES.items() if model != missing}
    async with http_client(max_connections=1) as client:
        with pytest.raises(SettingsError, match=missing) as caught:
            instrument(bom(per_day_usd=1), "http://x.test/v1", client, Counted(), prices=prices)
        assert "\n" not in str(caught.value)
        instrument(bom(max_calls=1), "http://x.test/v1", client, Counted(), prices={})


async def test_an_endpoint_that_is_not_set_is_named_at_the_start() -> None:
    async with http_client(max_connections=1) as client:
        around = {"clock": asyncio.get_running_loop().time, "rng": random.Random(0), "counters": Counted()}
        endpoints = Endpoints(client, {})
        with pytest.raises(SettingsError, match="ASSAY_MODEL_BASE_URL"):
            build_instrument(bom(), Surroundings(**around, prices={}, endpoints=endpoints))
