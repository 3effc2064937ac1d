from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import SecretStr

from schemas.errors import BomError, ModelError, SettingsError
from schemas.verdict_space import Cause
from tests.services.model_server import (
    PASS,
    ModelServer,
    answers,
    cuts_the_body,
    drops,
    hangs,
    model_server,
    never_ends,
    refuses,
    sends,
)
from tests.workers.judge.asked import SCHEMA, binding, question, within
from workers.judge.asking import RetryingModel, TimedModel
from workers.judge.protocols import Reply
from workers.judge.providers.endpoint import Endpoint
from workers.judge.providers.http import http_client
from workers.judge.providers.openai_compatible import OpenAICompatible, read_completion

pytestmark = pytest.mark.anyio
NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
KEY = "sk-not-to-be-seen"


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with model_server() as running:
        yield running


async def ask(url: str, *, body_limit: int = 100_000, **bound: Any) -> Reply:
    """One call, without repetitions, bounded at 0.3 s."""
    async with http_client(max_connections=4) as client:
        model = OpenAICompatible(
            binding(**bound), Endpoint(url, SecretStr(KEY)), client, now=lambda: NOW, max_body_bytes=body_limit
        )
        once = _retrying(model, attempt_timeout_s=0.3, max_attempts=1)
        return await once.ask(question(), deadline=within(5))


def _retrying(model: OpenAICompatible, *, attempt_timeout_s: float, max_attempts: int) -> RetryingModel:
    clock = asyncio.get_running_loop().time
    return RetryingModel(
        TimedModel(model, attempt_timeout_s=attempt_timeout_s, clock=clock),
        max_attempts=max_attempts,
        rng=random.Random(0),
        clock=clock,
        first_wait_s=0.001,
    )


async def failure(url: str, **options: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await ask(url, **options)
    assert KEY not in str(caught.value)
    return caught.value


async def test_a_completion_is_read_with_everything_that_was_served(server: ModelServer) -> None:
    assert await ask(server.url) == Reply(
        text=PASS, finish_reason="stop", model="judge-1", fingerprint="fp_1", input_tokens=120, output_tokens=30
    )


async def test_the_request_holds_the_pinned_parameters_and_the_strict_schema(server: ModelServer) -> None:
    await ask(server.url, seed=7, max_output_tokens=99, extra_parameters={"top_p": 0.5, "reasoning": {"effort": "low"}})
    assert server.requests == [
        {
            "model": "judge-1",
            "messages": [
                {"role": "system", "content": "You judge."},
                {"role": "user", "content": "Draft: A phone with a 6.1 inch display."},
            ],
            "temperature": 0.0,
            "seed": 7,
            "max_tokens": 99,
            "top_p": 0.5,
            "reasoning": {"effort": "low"},
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA},
            },
        }
    ]
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(("structured", "sent"), [("json_object", {"type": "json_object"}), ("none", None)])
async def test_weaker_endpoints_are_asked_for_less_structure(
    server: ModelServer, structured: str, sent: dict[str, str] | None
) -> None:
    await ask(server.url, structured_output=structured)
    assert server.requests[0].get("response_format") == sent


async def test_the_newer_name_of_the_token_limit_replaces_the_older(server: ModelServer) -> None:
    await ask(server.url, token_limit_parameter="max_completion_tokens", max_output_tokens=50)
    assert server.requests[0]["max_completion_tokens"] == 50
    assert "max_tokens" not in server.requests[0]


@pytest.mark.parametrize(
    ("behaviour", "cause", "retry_after_s"),
    [
        (refuses(429), Cause.RATE_LIMITED, None),
        (refuses(429, Retry_After="7"), Cause.RATE_LIMITED, 7.0),
        (refuses(429, Retry_After="Mon, 30 Nov 2026 12:00:09 GMT"), Cause.RATE_LIMITED, 9.0),
        (refuses(503, Retry_After="3"), Cause.PROVIDER_ERROR, 3.0),
        (refuses(500), Cause.PROVIDER_ERROR, None),
        (refuses(401), Cause.UNAUTHORIZED, None),
        (refuses(403), Cause.UNAUTHORIZED, None),
        (refuses(400), Cause.BAD_REQUEST, None),
        (refuses(404), Cause.BAD_REQUEST, None),
        (refuses(408), Cause.TIMEOUT, None),
        (refuses(307, Location="http://elsewhere.test/"), Cause.BAD_REQUEST, None),
        (refuses(400, code="content_filter"), Cause.REFUSED, None),
        (hangs, Cause.TIMEOUT, None),
        (answers(PASS, after_s=1.0), Cause.TIMEOUT, None),
        (drops, Cause.CONNECTION_LOST, 0.0),
        (never_ends, Cause.REPLY_TOO_LARGE, None),
        (sends(b" " * 200_000), Cause.REPLY_TOO_LARGE, None),
        (sends(b"<html>Bad gateway</html>"), Cause.PROVIDER_ERROR, None),
        (sends(b""), Cause.PROVIDER_ERROR, None),
        (sends(b"\xff\xfe"), Cause.PROVIDER_ERROR, None),
        (sends(b"[" * 90_000), Cause.PROVIDER_ERROR, None),
        (sends(b"[]"), Cause.PROVIDER_ERROR, None),
        (sends(b'{"choices": []}'), Cause.PROVIDER_ERROR, None),
        (sends(b'{"choices": [{"text": "pass"}]}'), Cause.PROVIDER_ERROR, None),
        (sends(b'{"error": {"code": 502}}'), Cause.PROVIDER_ERROR, None),
        (sends(b"\x1f\x8b broken", Content_Encoding="gzip"), Cause.PROVIDER_ERROR, None),
    ],
)
async def test_each_misbehaviour_has_its_cause(
    server: ModelServer, behaviour: Any, cause: Cause, retry_after_s: float | None
) -> None:
    server.behave(behaviour)
    error = await failure(server.url)
    assert (error.cause, error.retry_after_s, error.calls) == (cause, retry_after_s, 1)
    assert len(server.requests) == 1


async def test_a_body_cut_short_is_a_lost_connection(server: ModelServer) -> None:
    server.behave(cuts_the_body)
    assert (await failure(server.url)).cause is Cause.CONNECTION_LOST


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/v1", "http://no-such-host.invalid/v1"], ids=["refused", "no such name"]
)
async def test_no_connection_is_unreachable(url: str) -> None:
    assert (await failure(url)).cause is Cause.UNREACHABLE


async def test_a_server_without_tls_is_unreachable_over_https(server: ModelServer) -> None:
    assert (await failure(server.url.replace("http:", "https:"))).cause is Cause.UNREACHABLE


async def test_an_error_names_the_providers_code_and_never_its_text(server: ModelServer) -> None:
    server.behave(refuses(400, code="unsupported_parameter", message=f"draft text and {KEY}"))
    assert (await failure(server.url)).detail == "HTTP 400 code=unsupported_parameter"
    server.behave(refuses(401, code=f"key {KEY} is wrong"))
    assert (await failure(server.url)).detail == "HTTP 401"


async def test_a_connection_closed_while_idle_is_asked_again_at_once(server: ModelServer) -> None:
    server.behave(answers(PASS), drops, answers(PASS))
    async with http_client(max_connections=4) as client:
        model = _retrying(
            OpenAICompatible(binding(), Endpoint(server.url), client), attempt_timeout_s=5, max_attempts=2
        )
        first = await model.ask(question(), deadline=within(5))
        second = await model.ask(question(), deadline=within(5))
    assert (first.calls, second.calls, second.text) == (1, 2, PASS)
    assert len(server.requests) == 3


async def test_connections_are_used_again(server: ModelServer) -> None:
    async with http_client(max_connections=4) as client:
        model = OpenAICompatible(binding(), Endpoint(server.url), client)
        for _ in range(5):
            await model.ask(question(), deadline=within(5))
    assert len(server.connections) == 1


async def test_calls_beyond_the_connection_limit_queue_and_none_is_lost(server: ModelServer) -> None:
    server.behave(answers(PASS, after_s=0.005))
    async with http_client(max_connections=8) as client:
        model = OpenAICompatible(binding(), Endpoint(server.url), client)
        replies = await asyncio.gather(*(model.ask(question(), deadline=within(5)) for _ in range(100)))
    assert [reply.text for reply in replies] == [PASS] * 100
    assert len(server.connections) <= 8


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"content": ""}, {"text": None}),
        ({"content": "  \n"}, {"text": None}),
        ({"content": None}, {"text": None}),
        ({"content": None}, {"reasoned": False}),
        ({"content": [{"type": "reasoning", "text": "hm"}]}, {"text": None, "reasoned": True}),
        ({"content": [{"type": "text", "text": "a"}, 7, {"type": "text", "text": "b"}]}, {"text": "ab"}),
        ({"content": "", "finish_reason": "length"}, {"text": None, "finish_reason": "length", "output_tokens": 30}),
        ({"content": "x", "finish_reason": "content_filter"}, {"finish_reason": "content_filter"}),
        ({"content": "x", "model": "judge-2"}, {"model": "judge-2"}),
        ({"content": "x", "usage": None}, {"input_tokens": None, "output_tokens": None}),
        ({"content": "x", "usage": {"prompt_tokens": True, "completion_tokens": -1}}, {"input_tokens": None}),
        ({"content": "x", "usage": {"prompt_tokens": "12"}}, {"input_tokens": None, "output_tokens": None}),
    ],
)
async def test_odd_completions_keep_what_they_hold_and_invent_nothing(
    server: ModelServer, changes: dict[str, Any], expected: dict[str, Any]
) -> None:
    server.behave(answers(**changes))
    reply = await ask(server.url)
    assert {name: getattr(reply, name) for name in expected} == expected


@pytest.mark.parametrize("name", [b"reasoning", b"reasoning_content"])
def test_reasoning_without_an_answer_is_marked(name: bytes) -> None:
    reply = read_completion(b'{"choices": [{"message": {"content": "", "%b": "Let me see"}}]}' % name)
    assert (reply.text, reply.reasoned) == (None, True)


def test_a_refusal_of_the_model_is_marked() -> None:
    assert read_completion(b'{"choices": [{"message": {"content": null, "refusal": "I cannot"}}]}').refusal


@pytest.mark.parametrize("name", ["stream", "messages", "n", "max_tokens", "max_completion_tokens", "logprobs"])
async def test_extra_parameters_may_not_take_the_place_of_a_field(name: str) -> None:
    async with http_client(max_connections=1) as client:
        with pytest.raises(BomError, match=name):
            OpenAICompatible(binding(extra_parameters={name: 1}), Endpoint("http://x.test/v1"), client)


@pytest.mark.parametrize("url", ["", "x.test/v1", "ftp://x.test/v1", "http://", "http://x.test:port"])
def test_a_base_url_that_cannot_be_asked_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="base URL"):
        Endpoint(url)


@pytest.mark.parametrize("key", ["", "sk-a\nb", "sk-ключ", "a b"])
def test_a_key_that_no_header_carries_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Endpoint("http://x.test/v1", SecretStr(key))
    assert not key or key not in str(caught.value)


async def test_the_key_is_in_no_repr_and_no_log(server: ModelServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    await ask(server.url)
    assert KEY not in repr(Endpoint(server.url, SecretStr(KEY)))
    assert KEY not in caplog.text
