from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from schemas.errors import ModelError
from schemas.verdict_space import Cause
from tests.services.model_server import PASS, answers, cuts_the_body, drops, hangs, model_server, refuses
from tests.workers.judge.asked import binding, question, served_at, within
from tests.workers.judge.counted import Counted
from workers.judge.limits.endpoint_limits import FAILURES_IN_A_ROW, FIRST_OPEN_S, Allowance, EndpointLimits
from workers.judge.limits.limited_model import LimitedModel
from workers.judge.protocols import Question, Reply
from workers.judge.providers.build import build_model
from workers.judge.providers.http import http_client
from workers.judge.providers.scripted import ScriptedModel

pytestmark = pytest.mark.anyio


class Clock:
    """Moves when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def limits(counters: Counted | None = None, **allowed: Any) -> EndpointLimits:
    return EndpointLimits("default", Allowance(**{"max_in_flight": 8, **allowed}), counters=counters or Counted())


def failing(cause: Cause, clock: Clock, *, after_s: float = 0.0) -> ScriptedModel:
    def answer(_: Question) -> Reply:
        clock.now += after_s
        raise ModelError(cause)

    return ScriptedModel(answer)


async def causes(model: LimitedModel, count: int, *, deadline: float = 1e9) -> list[tuple[Cause, int]]:
    found = []
    for _ in range(count):
        with pytest.raises(ModelError) as caught:
            await model.ask(question(), deadline=deadline)
        found.append((caught.value.cause, caught.value.calls))
    return found


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        (Cause.UNREACHABLE, Cause.UNREACHABLE),
        (Cause.PROVIDER_ERROR, Cause.PROVIDER_ERROR),
        (Cause.CONNECTION_LOST, Cause.PROVIDER_ERROR),
    ],
)
async def test_a_broken_endpoint_is_left_alone_and_everybody_is_told_at_once(cause: Cause, told: Cause) -> None:
    clock, counted = Clock(), Counted()
    shared = limits(counted)
    model = LimitedModel(failing(cause, clock), shared, binding=binding(), clock=clock)
    assert await causes(model, FAILURES_IN_A_ROW + 3) == [(cause, 1)] * FAILURES_IN_A_ROW + [(told, 0)] * 3
    assert counted.counts == {"breaker_changes default open": 1, "model_calls_withheld default breaker": 3}


async def test_a_probe_finds_out_when_it_is_mended() -> None:
    clock, counted = Clock(), Counted()
    shared = limits(counted)
    broken = LimitedModel(failing(Cause.UNREACHABLE, clock), shared, binding=binding(), clock=clock)
    await causes(broken, FAILURES_IN_A_ROW)
    clock.now += FIRST_OPEN_S
    assert await causes(broken, 2) == [(Cause.UNREACHABLE, 1), (Cause.UNREACHABLE, 0)]
    clock.now += 2 * FIRST_OPEN_S
    mended = LimitedModel(ScriptedModel(lambda _: Reply("fine")), shared, binding=binding(), clock=clock)
    assert (await mended.ask(question(), deadline=1e9)).text == "fine"
    assert not shared.broken
    assert counted.counts["breaker_changes default closed"] == 1


@pytest.mark.parametrize("cause", [Cause.RATE_LIMITED, Cause.UNAUTHORIZED, Cause.BAD_REQUEST, Cause.REFUSED])
async def test_an_endpoint_that_answers_is_not_broken(cause: Cause) -> None:
    clock = Clock()
    shared = limits()
    model = LimitedModel(failing(cause, clock), shared, binding=binding(), clock=clock)
    await causes(model, 3 * FAILURES_IN_A_ROW)
    assert not shared.broken


async def test_a_time_out_counts_only_when_the_call_had_all_its_time() -> None:
    clock = Clock()
    shared = limits()
    hasty = LimitedModel(failing(Cause.TIMEOUT, clock, after_s=1), shared, binding=binding(), clock=clock)
    await causes(hasty, 2 * FAILURES_IN_A_ROW)
    assert not shared.broken
    patient = LimitedModel(failing(Cause.TIMEOUT, clock, after_s=20), shared, binding=binding(), clock=clock)
    await causes(patient, FAILURES_IN_A_ROW)
    assert shared.broken


async def test_a_probe_that_is_cancelled_does_not_keep_the_endpoint_shut() -> None:
    clock = Clock()
    shared = limits()
    await causes(
        LimitedModel(failing(Cause.UNREACHABLE, clock), shared, binding=binding(), clock=clock), FAILURES_IN_A_ROW
    )
    clock.now += FIRST_OPEN_S
    forever = LimitedModel(ScriptedModel(lambda _: asyncio.sleep(3600)), shared, binding=binding(), clock=clock)
    probe = asyncio.create_task(forever.ask(question(), deadline=within(5)))
    await asyncio.sleep(0.001)
    assert shared.breaker.blocks(clock.now)
    probe.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probe
    assert not shared.breaker.blocks(clock.now)
    assert shared.turnstile.inside == 0


async def test_a_rate_is_waited_for_inside_the_deadline_and_shared_by_all_criteria() -> None:
    counted, loop = Counted(), asyncio.get_running_loop()
    shared = limits(counted, requests_per_minute=6000)  # 600 at once, then 90 a second
    for _ in range(599):
        shared.requests.take(1, loop.time(), longest_s=0)
    one, two = (
        LimitedModel(ScriptedModel(lambda _: Reply("fine")), shared, binding=binding(), clock=loop.time) for _ in "ab"
    )
    began = loop.time()
    replies = await asyncio.gather(*(model.ask(question(), deadline=within(5)) for model in (one, two) * 3))
    assert [reply.text for reply in replies] == ["fine"] * 6
    assert 4 / 90 <= loop.time() - began < 1
    assert counted.counts["model_waits default rate"] >= 4


async def test_a_turn_that_would_come_after_the_deadline_is_an_abstain_at_once_without_a_call() -> None:
    counted, loop = Counted(), asyncio.get_running_loop()
    shared = limits(counted, requests_per_minute=1)
    model = LimitedModel(ScriptedModel(lambda _: Reply("fine")), shared, binding=binding(), clock=loop.time)
    assert (await model.ask(question(), deadline=within(5))).text == "fine"
    began = loop.time()
    assert await causes(model, 2, deadline=within(5)) == [(Cause.RATE_LIMITED, 0)] * 2
    assert loop.time() - began < 0.5
    assert counted.counts["model_calls_withheld default rate"] == 2


async def test_tokens_are_estimated_before_and_corrected_after_the_call() -> None:
    clock = Clock()
    shared = limits(tokens_per_minute=10_000)  # 1,000 at once, 150 a second
    used = Reply("fine", input_tokens=40, output_tokens=10)
    model = LimitedModel(ScriptedModel(lambda _: used), shared, binding=binding(max_output_tokens=900), clock=clock)
    for _ in range(2):  # at 912 tokens each, as estimated, the second would have waited for 5.5 s
        await model.ask(question(), deadline=clock.now + 0.1)
    assert shared.tokens.take(900, clock.now, longest_s=0) == 0.0  # by hand: 2 x 50 of 1,000 were used
    assert shared.tokens.take(150, clock.now, longest_s=2) == pytest.approx(1.0)


async def test_a_429_keeps_everybody_waiting_for_as_long_as_it_says_up_to_a_minute() -> None:
    clock = Clock()
    shared = limits()

    def answer(_: Question) -> Reply:
        raise ModelError(Cause.RATE_LIMITED, retry_after_s=86_400.0)

    await causes(LimitedModel(ScriptedModel(answer), shared, binding=binding(), clock=clock), 1)
    assert shared.requests.take(1, clock.now, longest_s=100) == 60.0
    assert shared.concurrency.limit == 4


@pytest.mark.parametrize(
    ("behaviour", "cause"),
    [
        (refuses(500), Cause.PROVIDER_ERROR),
        (refuses(429, Retry_After="0"), Cause.RATE_LIMITED),
        (refuses(429, Retry_After="Mon, 30 Nov 2020 12:00:00 GMT"), Cause.RATE_LIMITED),
        (refuses(401), Cause.UNAUTHORIZED),
        (refuses(400), Cause.BAD_REQUEST),
        (drops, Cause.CONNECTION_LOST),
        (cuts_the_body, Cause.CONNECTION_LOST),
        (hangs, Cause.TIMEOUT),
    ],
)
async def test_whatever_the_server_does_every_question_ends_and_no_place_is_lost(behaviour: Any, cause: Cause) -> None:
    async with model_server() as server, http_client(max_connections=8) as client:
        server.behave(behaviour)
        endpoints = served_at(server.url, client, allowance=Allowance(8))
        model = build_model(
            binding(attempt_timeout_s=0.3 if behaviour is hangs else 20.0, max_attempts=2),
            files={}, clauses=(), endpoints=endpoints, purse=None, price=None,
            rng=random.Random(0), clock=asyncio.get_running_loop().time, first_wait_s=0.001,
        )  # fmt: skip
        ended = await asyncio.gather(
            *(model.ask(question(), deadline=within(30)) for _ in range(40)), return_exceptions=True
        )
    found = {error.cause for error in ended if isinstance(error, ModelError)}
    assert len(ended) == 40
    breaks = cause in (Cause.TIMEOUT, Cause.CONNECTION_LOST)  # those who come late find the endpoint left alone
    assert {cause} <= found <= ({cause, Cause.PROVIDER_ERROR} if breaks else {cause})
    assert endpoints.by_name["default"].limits.turnstile.inside == 0
    assert server.most_in_flight <= 8


async def test_a_server_that_takes_ten_at_a_time_loses_nothing_of_two_hundred() -> None:
    """429 above ten in flight: the limit falls until it fits, and every question gets its answer."""
    async with model_server() as server, http_client(max_connections=200) as client:

        async def crowded(request: Any) -> Any:
            behaviour = answers(PASS, after_s=0.01) if server.in_flight <= 10 else refuses(429, Retry_After="0.02")
            return await behaviour(request)

        server.behave(crowded)
        counted = Counted()
        endpoints = served_at(server.url, client, allowance=Allowance(200), counters=counted)
        model = build_model(
            binding(max_attempts=10),
            files={}, clauses=(), endpoints=endpoints, purse=None, price=None,
            rng=random.Random(0), clock=asyncio.get_running_loop().time,
        )  # fmt: skip
        replies = await asyncio.gather(*(model.ask(question(), deadline=within(20)) for _ in range(200)))
    assert [reply.text for reply in replies] == [PASS] * 200
    assert endpoints.by_name["default"].limits.concurrency.limit < 100
    assert counted.counts["model_throttled default rate_limited"] >= 1
