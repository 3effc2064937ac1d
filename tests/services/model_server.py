"""A local model endpoint that misbehaves on command: OpenAI-compatible and Anthropic, real HTTP on a loopback port."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

Behaviour = Callable[[web.Request], Awaitable[web.StreamResponse]]

PASS = '{"label": "pass", "reason": null, "evidence_spans": [], "guideline_clause": null}'


class ModelServer:
    """Answers the n-th request with the n-th behaviour; the last one goes on for ever."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.connections: set[int] = set()
        self.in_flight = self.most_in_flight = 0
        self._behaviours: list[Behaviour] = [answers(PASS)]

    def behave(self, *behaviours: Behaviour) -> None:
        self._behaviours = list(behaviours)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(json.loads(await request.read()))
        self.headers.append(dict(request.headers))
        self.connections.add(id(request.protocol))
        behaviour = self._behaviours.pop(0) if len(self._behaviours) > 1 else self._behaviours[0]
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await behaviour(request)
        finally:
            self.in_flight -= 1


@asynccontextmanager
async def model_server() -> AsyncIterator[ModelServer]:
    server = ModelServer()
    app = web.Application(client_max_size=16 * 1024 * 1024)
    app.router.add_post("/v1/chat/completions", server.handle)
    app.router.add_post("/v1/messages", server.handle)
    runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield server
    finally:
        await runner.cleanup()


def completion(content: Any, *, finish_reason: str = "stop", **changes: Any) -> dict[str, Any]:
    """The body of a chat completion, as OpenAI documents it."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_780_000_000,
        "model": "judge-1",
        "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150},
        **changes,
    }


def answers(content: Any, *, after_s: float = 0.0, **changes: Any) -> Behaviour:
    async def behaviour(_: web.Request) -> web.StreamResponse:
        await asyncio.sleep(after_s)
        return web.json_response(completion(content, **changes))

    return behaviour


def message(*content: Any, stop_reason: str = "tool_use", **changes: Any) -> dict[str, Any]:
    """The body of an Anthropic message, as its API reference shows it."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "judge-1",
        "content": list(content),
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 120, "output_tokens": 30},
        **changes,
    }


def tool_use(verdict: Any, *, name: str = "verdict") -> dict[str, Any]:
    return {"type": "tool_use", "id": "toolu_1", "name": name, "input": verdict}


def says(*content: Any, after_s: float = 0.0, **changes: Any) -> Behaviour:
    """An Anthropic message of these blocks."""

    async def behaviour(_: web.Request) -> web.StreamResponse:
        await asyncio.sleep(after_s)
        return web.json_response(message(*content, **changes))

    return behaviour


def echoes(reply: Callable[[dict[str, Any]], str], *, after_s: float = 0.0) -> Behaviour:
    """The content is made from the request's body."""

    async def behaviour(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(after_s)
        return web.json_response(completion(reply(json.loads(await request.read()))))

    return behaviour


def sends(body: bytes, *, status: int = 200, **headers: str) -> Behaviour:
    async def behaviour(_: web.Request) -> web.StreamResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, body=body, headers={"Content-Type": "application/json", **named})

    return behaviour


def refuses(status: int, *, code: str = "", message: str = "", **headers: str) -> Behaviour:
    return sends(json.dumps({"error": {"code": code, "message": message}}).encode(), status=status, **headers)


async def hangs(_: web.Request) -> web.StreamResponse:
    await asyncio.sleep(3600)
    raise AssertionError("nobody waits that long")


async def drops(request: web.Request) -> web.StreamResponse:
    """Closes the connection instead of answering, as a server does whose keep-alive ended when the request came."""
    assert request.transport is not None
    request.transport.close()
    return web.Response()


async def cuts_the_body(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"choices": [{"mess')
    assert request.transport is not None
    request.transport.abort()
    return response


async def never_ends(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    while True:
        await response.write(b" " * 65_536)
