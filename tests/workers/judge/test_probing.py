from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from schemas.rating import Comparison
from tests.services.model_server import ModelServer, answers, hangs, model_server, refuses, says, tool_use
from tests.workers.judge.asked import binding
from workers.judge.asking import TimedModel
from workers.judge.forms import pairwise
from workers.judge.pricing import Price
from workers.judge.probing import Finding, Probe, Way, probe
from workers.judge.protocols import Prompt
from workers.judge.providers.build import over_http
from workers.judge.providers.endpoint import Endpoint
from workers.judge.providers.http import http_client

pytestmark = pytest.mark.anyio
VERDICT = {"label": "pass", "reason": "Fine.", "evidence_spans": None, "guideline_clause": None}
PASS = json.dumps(VERDICT)


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with model_server() as running:
        running.behave(answers(PASS))
        yield running


ONE_WAY = (Way(lambda draft: Prompt("You judge.", draft.text)),)


async def probed(url: str, *, ways: Sequence[Way] = ONE_WAY, price: Price | None = None, **bound: Any) -> Probe:
    asked, clock = binding(**{"attempt_timeout_s": 0.3, **bound}), asyncio.get_running_loop().time
    async with http_client(max_connections=2) as client:
        return await probe(
            TimedModel(over_http(asked, Endpoint(url), client), attempt_timeout_s=asked.attempt_timeout_s, clock=clock),
            criterion_id="a",
            binding=asked,
            ways=ways,
            clauses=(),
            price=price,
            clock=clock,
        )


async def test_a_model_that_does_all_it_should_has_no_finding_and_a_price(server: ModelServer) -> None:
    found = await probed(server.url, price=Price(input_per_mtok=1, output_per_mtok=10))
    assert (found.calls, found.findings, found.served_model) == (3, {}, "judge-1")
    assert found.cost_usd == pytest.approx(3 * (120 + 300) / 1e6)  # by hand: three calls of 120 and 30 tokens
    assert len(server.requests) == 3


async def test_without_a_price_the_cost_is_unknown_and_not_0(server: ModelServer) -> None:
    assert (await probed(server.url)).cost_usd is None


@pytest.mark.parametrize(
    ("behaviour", "finding"),
    [
        (refuses(401), Finding.WRONG_KEY),
        (refuses(404, code="model_not_found"), Finding.BAD_REQUEST),
        (refuses(400, code="unknown_parameter"), Finding.BAD_REQUEST),
        (refuses(500), Finding.NO_ANSWER),
        (refuses(429), Finding.NO_ANSWER),
        (hangs, Finding.NO_ANSWER),
    ],
)
async def test_what_answers_nothing_is_asked_once(server: ModelServer, behaviour: Any, finding: Finding) -> None:
    server.behave(behaviour)
    found = await probed(server.url)
    assert finding in found.findings
    assert (found.calls, len(server.requests)) == (1, 1)


@pytest.mark.parametrize(
    ("behaviours", "bound", "finding"),
    [
        ([answers(PASS), answers('{"label": "fa', finish_reason="length")], {}, Finding.TRUNCATED),
        ([answers(PASS, usage=None)], {}, Finding.USAGE_MISSING),
        ([answers(PASS, model="judge-2")], {}, Finding.MODEL_MISMATCH),
        ([answers(PASS), answers(PASS), answers("A kettle boils water.")], {}, Finding.NO_STRUCTURED_OUTPUT),
        ([answers("It is fine.")], {"structured_output": "none"}, Finding.UNREADABLE),
        ([answers(None, finish_reason="content_filter")], {}, Finding.REFUSED),
        ([answers(PASS, after_s=0.2)], {}, Finding.SLOW),
        ([answers(PASS)], {"logprobs": True}, Finding.NO_LOGPROBS),
    ],
)
async def test_each_fault_is_found(
    server: ModelServer, behaviours: list[Any], bound: dict[str, Any], finding: Finding
) -> None:
    server.behave(*behaviours)
    assert finding in (await probed(server.url, **bound)).findings


async def test_the_words_of_a_provider_are_named_in_a_finding(server: ModelServer) -> None:
    server.behave(refuses(400, code="unsupported_parameter"))
    found = (await probed(server.url)).findings[Finding.BAD_REQUEST]
    assert found == "HTTP 400 code=unsupported_parameter"


async def test_a_cause_is_said_once(server: ModelServer) -> None:
    assert (await probed("http://127.0.0.1:1/v1")).findings == {Finding.UNREACHABLE: "ClientConnectorError"}
    server.behave(refuses(500))
    assert (await probed(server.url)).findings == {Finding.NO_ANSWER: "provider_error: HTTP 500"}


async def test_an_anthropic_model_is_probed_the_same(server: ModelServer) -> None:
    server.behave(says(tool_use(VERDICT)))
    assert (await probed(server.url, provider="anthropic")).findings == {}
    server.behave(says({"type": "text", "text": "A kettle boils water."}, stop_reason="end_turn"))
    assert Finding.UNREADABLE in (await probed(server.url, provider="anthropic")).findings


def order(*, swapped: bool) -> Way:
    return Way(
        lambda draft: Prompt("You compare.", " ".join(sorted((draft.text, str(draft.rival)), reverse=swapped))),
        pairwise(Comparison(), swapped=swapped),
    )


TIE = json.dumps({"preference": "TIE", "reason": "Alike.", "evidence_spans": None, "guideline_clause": None})
BOTH_ORDERS = (order(swapped=False), order(swapped=True))


async def test_a_comparison_is_probed_in_both_orders(server: ModelServer) -> None:
    server.behave(answers(TIE))
    found = await probed(server.url, ways=BOTH_ORDERS)
    assert (found.calls, found.findings) == (5, {})
    assert len({request["messages"][-1]["content"] for request in server.requests}) == 5


@pytest.mark.parametrize(("ways", "seen"), [(BOTH_ORDERS, True), (BOTH_ORDERS[:1], False)])
async def test_what_goes_wrong_in_the_other_order_alone_is_seen(
    server: ModelServer, ways: tuple[Way, ...], seen: bool
) -> None:
    server.behave(answers(TIE), answers(TIE), answers("The first one."))
    found = await probed(server.url, ways=ways, structured_output="none")
    assert (Finding.UNREADABLE in found.findings) is seen
