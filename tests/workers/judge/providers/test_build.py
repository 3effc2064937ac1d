from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from schemas.bom import Provider
from schemas.errors import BomError, ModelError, SettingsError
from schemas.verdict_space import Cause
from tests.services.model_server import PASS, answers, cuts_the_body, drops, hangs, model_server, refuses
from tests.workers.judge.asked import binding, question, served_at, within
from workers.judge.protocols import Model
from workers.judge.providers.build import build_model
from workers.judge.providers.http import http_client

pytestmark = pytest.mark.anyio

FILES = {
    "script.yaml": b"cases: [{contains: down, error: provider_error}]\ndefault: {reply: {label: pass, reason: fine}}",
    "recording.jsonl": b'{"item_id": "r-1", "judges": [{"model": "gpt", "label": "pass"}]}',
}


def build(bound: Any, **given: Any) -> Model:
    parts: dict[str, Any] = {
        "files": FILES,
        "clauses": ("R-1",),
        "endpoints": None,
        "purse": None,
        "price": None,
        **given,
    }
    return build_model(bound, **parts, rng=random.Random(0), clock=asyncio.get_running_loop().time)


async def test_every_provider_can_be_built_and_asked() -> None:
    async with model_server() as server, http_client(max_connections=2) as client:
        live = build(binding(), endpoints=served_at(server.url, client))
        assert (await live.ask(question(), deadline=within(5))).text == PASS
    scripted = build(binding(provider=Provider.SCRIPTED, file="script.yaml"))
    assert (await scripted.ask(question(), deadline=within(5))).model == "judge-1"
    recorded = build(binding(provider=Provider.RECORDED, model="gpt", file="recording.jsonl"))
    with pytest.raises(ModelError) as caught:
        await recorded.ask(question(), deadline=within(5))
    assert caught.value.cause is Cause.NOT_RECORDED


async def test_attempts_are_those_of_the_binding() -> None:
    scripted = build(binding(provider=Provider.SCRIPTED, file="script.yaml", max_attempts=1))
    with pytest.raises(ModelError) as caught:
        await scripted.ask(question("down"), deadline=within(5))
    assert caught.value.calls == 1


async def test_what_is_missing_is_said_at_the_start() -> None:
    with pytest.raises(SettingsError, match="ASSAY_MODEL_BASE_URL"):
        build(binding())
    with pytest.raises(BomError, match="nowhere"):
        build(binding(provider=Provider.SCRIPTED, file="nowhere.yaml"))
    with pytest.raises(BomError, match="clause"):
        build(binding(provider=Provider.RECORDED, model="gpt", file="recording.jsonl"), clauses=())
    with pytest.raises(BomError, match="there are: gpt"):
        build(binding(provider=Provider.RECORDED, model="claude", file="recording.jsonl"))


@pytest.mark.parametrize("behaviour", [refuses(500), refuses(429, Retry_After="0"), drops, cuts_the_body, hangs])
@pytest.mark.parametrize("attempts", [1, 3])
async def test_the_server_never_sees_one_call_more_than_the_binding_allows(behaviour: Any, attempts: int) -> None:
    async with model_server() as server, http_client(max_connections=2) as client:
        server.behave(behaviour)
        bound = binding(max_attempts=attempts, attempt_timeout_s=0.2 if behaviour is hangs else 20.0)
        model = build(bound, endpoints=served_at(server.url, client), first_wait_s=0.001)
        with pytest.raises(ModelError) as caught:
            await model.ask(question(), deadline=within(30))
    assert (caught.value.calls, len(server.requests)) == (attempts, attempts)


async def test_a_rate_limit_is_waited_for_and_the_answer_counts_its_calls() -> None:
    async with model_server() as server, http_client(max_connections=2) as client:
        server.behave(refuses(429, Retry_After="0.02"), refuses(503), answers(PASS))
        model = build(binding(), endpoints=served_at(server.url, client), first_wait_s=0.001)
        reply = await model.ask(question(), deadline=within(5))
    assert (reply.text, reply.calls, len(server.requests)) == (PASS, 3, 3)
