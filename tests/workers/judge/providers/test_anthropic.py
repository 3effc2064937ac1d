from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from schemas.errors import BomError, ModelError
from schemas.verdict_space import Cause, Label
from tests.services.model_server import (
    ModelServer,
    cuts_the_body,
    drops,
    hangs,
    message,
    model_server,
    never_ends,
    says,
    sends,
    tool_use,
)
from tests.workers.judge.asked import SCHEMA, binding, question, within
from workers.judge.asking import TimedModel
from workers.judge.model_judge import read
from workers.judge.protocols import Reply
from workers.judge.providers.anthropic import Anthropic, read_message
from workers.judge.providers.endpoint import Endpoint
from workers.judge.providers.http import http_client

pytestmark = pytest.mark.anyio
NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
KEY = "sk-ant-not-to-be-seen"
VERDICT = {"label": "pass", "reason": "Nothing touches a clause.", "evidence_spans": None, "guideline_clause": None}
PASS = json.dumps(VERDICT)
THINKS = {"type": "thinking", "thinking": "Let me see", "signature": "x"}


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with model_server() as running:
        running.behave(says(tool_use(VERDICT)))
        yield running


async def ask(url: str, **bound: Any) -> Reply:
    async with http_client(max_connections=4) as client:
        bound_ = binding(provider="anthropic", **bound)
        model = Anthropic(bound_, Endpoint(url, SecretStr(KEY)), client, now=lambda: NOW, max_body_bytes=100_000)
        timed = TimedModel(model, attempt_timeout_s=0.3, clock=asyncio.get_running_loop().time)
        return await timed.ask(question(), deadline=within(5))


def refuses(status: int, kind: str = "", **headers: str) -> Any:
    error = {"type": "error", "error": {"type": kind, "message": f"words and {KEY}"}}
    return sends(json.dumps(error).encode(), status=status, **headers)


async def test_the_verdict_is_the_input_of_the_forced_tool(server: ModelServer) -> None:
    reply = await ask(server.url)
    assert json.loads(reply.text or "") == VERDICT
    assert (reply.finish_reason, reply.model, reply.input_tokens, reply.output_tokens) == (
        "tool_use",
        "judge-1",
        120,
        30,
    )
    assert read(reply, clauses=()).label is Label.PASS


async def test_the_request_is_a_forced_tool_with_the_strict_schema(server: ModelServer) -> None:
    await ask(server.url, max_output_tokens=99, extra_parameters={"top_k": 1})
    assert server.requests == [
        {
            "model": "judge-1",
            "system": "You judge.",
            "messages": [{"role": "user", "content": "Draft: A phone with a 6.1 inch display."}],
            "max_tokens": 99,
            "temperature": 0.0,
            "top_k": 1,
            "tools": [{"name": "verdict", "description": "Give the verdict.", "input_schema": SCHEMA}],
            "tool_choice": {"type": "tool", "name": "verdict", "disable_parallel_tool_use": True},
        }
    ]
    sent = server.headers[0]
    assert (sent["x-api-key"], sent["anthropic-version"], sent.get("Authorization")) == (KEY, "2023-06-01", None)


async def test_without_structured_output_the_text_is_the_reply(server: ModelServer) -> None:
    server.behave(says({"type": "text", "text": PASS}, stop_reason="end_turn"))
    reply = await ask(server.url, structured_output="none", temperature=None)
    assert (reply.text, server.requests[0].keys() & {"tools", "tool_choice", "temperature"}) == (PASS, set())


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (message(tool_use(VERDICT), stop_reason="max_tokens"), Cause.TRUNCATED),
        (message(tool_use(VERDICT), stop_reason="model_context_window_exceeded"), Cause.TRUNCATED),
        (message(stop_reason="refusal"), Cause.REFUSED),
        (message(THINKS, stop_reason="end_turn"), Cause.TRUNCATED),
        (message(tool_use(VERDICT), tool_use({**VERDICT, "label": "fail"})), Cause.UNPARSEABLE),
        (message({"type": "text", "text": PASS}, stop_reason="end_turn"), Cause.UNPARSEABLE),
        (message(tool_use(VERDICT, name="another")), Cause.UNPARSEABLE),
        (message(tool_use(None)), Cause.UNPARSEABLE),
        (message(tool_use({"verdict": "pass"})), Cause.UNPARSEABLE),
        (message(), Cause.UNPARSEABLE),
    ],
)
def test_a_message_without_one_whole_verdict_abstains_with_its_cause(body: dict[str, Any], cause: Cause) -> None:
    reply = read_message(json.dumps(body).encode(), by_tool=True)
    assert read(reply, clauses=()).cause is cause
    assert reply.output_tokens == 30


def test_a_key_given_twice_in_the_tools_input_is_seen_by_the_strict_parser() -> None:
    raw = json.dumps(message(tool_use("HERE"))).replace('"HERE"', '{"label": "fail", "label": "pass", "reason": "x"}')
    parsed = read(read_message(raw.encode(), by_tool=True), clauses=())
    assert (parsed.cause, parsed.detail) == (Cause.UNPARSEABLE, "a key is given twice")


def test_text_beside_the_tool_is_no_channel_of_the_verdict() -> None:
    quoted = {"type": "text", "text": '{"label": "fail", "reason": "quoted from the draft"}'}
    reply = read_message(json.dumps(message(quoted, tool_use(VERDICT))).encode(), by_tool=True)
    assert read(reply, clauses=()).label is Label.PASS


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"input_tokens": 5, "output_tokens": 3, "cache_read_input_tokens": 100}, (105, 3)),
        ({"input_tokens": 5, "cache_creation_input_tokens": 7, "output_tokens": 3}, (12, 3)),
        ({"input_tokens": 5, "cache_creation_input_tokens": None, "output_tokens": 3}, (5, 3)),
        ({"cache_read_input_tokens": 100}, (None, None)),
        ({"input_tokens": True, "output_tokens": -1}, (None, None)),
        (None, (None, None)),
    ],
)
def test_cached_tokens_are_counted_and_what_is_not_said_is_unknown(usage: Any, counts: Any) -> None:
    reply = read_message(json.dumps(message(tool_use(VERDICT), usage=usage)).encode(), by_tool=True)
    assert (reply.input_tokens, reply.output_tokens) == counts


@pytest.mark.parametrize(
    ("behaviour", "cause", "detail", "retry_after_s"),
    [
        (refuses(429, "rate_limit_error"), Cause.RATE_LIMITED, "HTTP 429 type=rate_limit_error", None),
        (refuses(429, "rate_limit_error", Retry_After="7"), Cause.RATE_LIMITED, "HTTP 429 type=rate_limit_error", 7.0),
        (refuses(529, "overloaded_error"), Cause.PROVIDER_ERROR, "HTTP 529 type=overloaded_error", None),
        (refuses(500, "api_error"), Cause.PROVIDER_ERROR, "HTTP 500 type=api_error", None),
        (refuses(401, "authentication_error"), Cause.UNAUTHORIZED, "HTTP 401 type=authentication_error", None),
        (refuses(403, "permission_error"), Cause.UNAUTHORIZED, "HTTP 403 type=permission_error", None),
        (refuses(404, "not_found_error"), Cause.BAD_REQUEST, "HTTP 404 type=not_found_error", None),
        (refuses(413, "request_too_large"), Cause.BAD_REQUEST, "HTTP 413 type=request_too_large", None),
        (hangs, Cause.TIMEOUT, "no reply within 0.3 s", None),
        (drops, Cause.CONNECTION_LOST, "ServerDisconnectedError", 0.0),
        (cuts_the_body, Cause.CONNECTION_LOST, "ClientPayloadError", None),
        (never_ends, Cause.REPLY_TOO_LARGE, "more than 100000 bytes", None),
        (sends(b"[" * 90_000), Cause.PROVIDER_ERROR, "the body is not JSON", None),
        (sends(b"<html>"), Cause.PROVIDER_ERROR, "the body is not JSON", None),
        (sends(b"\xff"), Cause.PROVIDER_ERROR, "the body is not JSON", None),
        (sends(b'{"content": [], "x": NaN}'), Cause.PROVIDER_ERROR, "the body is not JSON", None),
        (sends(b'{"content": "pass"}'), Cause.PROVIDER_ERROR, "the body is no message: it has no content", None),
        (sends(b'{"type": "error"}'), Cause.PROVIDER_ERROR, "the body is no message: it has no content", None),
    ],
)
async def test_each_misbehaviour_has_its_cause(
    server: ModelServer, behaviour: Any, cause: Cause, detail: str, retry_after_s: float | None
) -> None:
    server.behave(behaviour)
    with pytest.raises(ModelError) as caught:
        await ask(server.url)
    error = caught.value
    assert (error.cause, error.detail, error.retry_after_s, error.calls) == (cause, detail, retry_after_s, 1)


@pytest.mark.parametrize(
    "bound",
    [
        {"seed": 1},
        {"logprobs": True},
        {"temperature": 1.5},
        {"structured_output": "json_object"},
        {"token_limit_parameter": "max_completion_tokens"},
    ],
)
def test_what_anthropic_does_not_know_is_refused_in_the_binding(bound: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="anthropic has no"):
        binding(provider="anthropic", **bound)


@pytest.mark.parametrize("name", ["tools", "tool_choice", "system", "stream"])
async def test_extra_parameters_may_not_take_the_place_of_a_field(name: str) -> None:
    async with http_client(max_connections=1) as client:
        with pytest.raises(BomError, match=name):
            Anthropic(binding(provider="anthropic", extra_parameters={name: 1}), Endpoint("http://x.test/v1"), client)
