"""Anthropic's Messages API. The verdict is the input of a tool that the model is made to call.

Source: Anthropic API reference, "Messages" (version 2023-06-01), "Tool use: forcing tool use", "Errors".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

import httpx

from schemas.bom import ModelBinding, StructuredOutput
from schemas.errors import BomError, ModelError
from schemas.verdict_space import Cause
from workers.judge.protocols import Question, Reply
from workers.judge.providers.endpoint import Endpoint
from workers.judge.providers.posting import MAX_BODY_BYTES, Poster, count, mapping, utc_now, word

VERSION: Final = "2023-06-01"
TOOL: Final = "verdict"

_OURS = frozenset({"model", "messages", "system", "temperature", "max_tokens", "tools", "tool_choice", "stream"})
_CACHED_TOKENS = ("cache_creation_input_tokens", "cache_read_input_tokens")


class Anthropic:
    """Asks one pinned model, once a call."""

    def __init__(
        self,
        binding: ModelBinding,
        endpoint: Endpoint,
        client: httpx.AsyncClient,
        *,
        now: Callable[[], datetime] = utc_now,
        max_body_bytes: int = MAX_BODY_BYTES,
    ) -> None:
        if taken := sorted(_OURS & binding.extra_parameters.keys()):
            raise BomError(f"bindings.yaml: extra_parameters may not set {taken[0]!r}: the binding has its own field")
        self._binding = binding
        headers = {"anthropic-version": VERSION, **endpoint.x_api_key()}
        self._poster = Poster(client, endpoint.url("/messages"), headers, now=now, max_body_bytes=max_body_bytes)

    async def ask(self, question: Question, *, deadline: float) -> Reply:
        raw = await self._poster.post(request_body(self._binding, question))
        return read_message(raw, by_tool=self._binding.structured_output is not StructuredOutput.NONE)

    async def close(self) -> None:
        """The client is shared: whoever made it closes it."""


def request_body(binding: ModelBinding, question: Question) -> dict[str, Any]:
    """The JSON of the request; ``extra_parameters`` are sent as they are."""
    body: dict[str, Any] = {
        "model": binding.model,
        "system": question.prompt.system,
        "messages": [{"role": "user", "content": question.prompt.user}],
        "max_tokens": binding.max_output_tokens,
        **binding.extra_parameters,
    }
    if binding.temperature is not None:
        body["temperature"] = binding.temperature
    if binding.structured_output is not StructuredOutput.NONE:
        tool = {"name": TOOL, "description": "Give the verdict.", "input_schema": question.schema}
        body["tools"] = [tool]
        body["tool_choice"] = {"type": "tool", "name": TOOL, "disable_parallel_tool_use": True}
    return body


def read_message(raw: bytes, *, by_tool: bool) -> Reply:
    """A reply out of the body of a success. Raises ModelError(PROVIDER_ERROR) for a body that is no message.

    With ``by_tool`` the tool's input is the only channel of the verdict: what stands in text beside it is none.
    """
    try:
        body = mapping(json.loads(raw, object_pairs_hook=_keeping_duplicates, parse_constant=_no_constant))
        blocks = body.get("content")
        if not isinstance(blocks, list):
            raise ModelError(Cause.PROVIDER_ERROR, "the body is no message: it has no content")
        parts = [mapping(block) for block in blocks]
        text = _inputs(parts) if by_tool else _texts(parts)
    except (ValueError, RecursionError) as error:
        raise ModelError(Cause.PROVIDER_ERROR, "the body is not JSON") from error
    usage = mapping(body.get("usage"))
    return Reply(
        text=text,
        finish_reason=word(body.get("stop_reason")),
        reasoned=text is None and bool(parts) and all(_thinks(part) for part in parts),
        model=word(body.get("model")),
        input_tokens=_input_tokens(usage),
        output_tokens=count(usage.get("output_tokens")),
    )


def _inputs(parts: list[Mapping[str, Any]]) -> str | None:
    """What the tool was called with, as the JSON text it came from; two calls are two objects, which are no verdict."""
    inputs = [p.get("input") for p in parts if p.get("type") == "tool_use" and p.get("name") == TOOL]
    return "\n".join(json.dumps(one, ensure_ascii=False) for one in inputs) or None


def _texts(parts: list[Mapping[str, Any]]) -> str | None:
    text = "".join(p["text"] for p in parts if p.get("type") == "text" and isinstance(p.get("text"), str))
    return text if text.strip() else None


def _thinks(part: Mapping[str, Any]) -> bool:
    return part.get("type") in ("thinking", "redacted_thinking")


def _input_tokens(usage: Mapping[str, Any]) -> int | None:
    """All that was read: what came from a prompt cache or went into one is counted beside the rest."""
    read = count(usage.get("input_tokens"))
    return None if read is None else read + sum(count(usage.get(name)) or 0 for name in _CACHED_TOKENS)


class _Twice(dict[str, Any]):
    """An object with a key given twice, which is written again as it was read: the strict parser must see it."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self._pairs = pairs

    def items(self) -> Any:
        return self._pairs


def _keeping_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else _Twice(pairs)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")
