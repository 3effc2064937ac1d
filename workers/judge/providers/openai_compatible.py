"""Chat completions of any OpenAI-compatible endpoint: vLLM, Ollama, llama.cpp's server, hosted ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import httpx
import orjson

from schemas.bom import ModelBinding, StructuredOutput
from schemas.errors import BomError, ModelError
from schemas.verdict_space import Cause
from workers.judge.protocols import Question, Reply
from workers.judge.providers.endpoint import Endpoint
from workers.judge.providers.label_probability import label_probability
from workers.judge.providers.posting import MAX_BODY_BYTES, Poster, count, mapping, utc_now, word

_OURS = frozenset(
    {
        "model", "messages", "temperature", "seed", "max_tokens", "max_completion_tokens", "response_format", "stream",
        "n", "logprobs",
    }
)  # fmt: skip


class OpenAICompatible:
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
        url = endpoint.url("/chat/completions")
        self._poster = Poster(client, url, endpoint.bearer(), now=now, max_body_bytes=max_body_bytes)

    async def ask(self, question: Question, *, deadline: float) -> Reply:
        raw = await self._poster.post(request_body(self._binding, question))
        return read_completion(raw, logprobs=self._binding.logprobs)

    async def close(self) -> None:
        """The client is shared: whoever made it closes it."""


def request_body(binding: ModelBinding, question: Question) -> dict[str, Any]:
    """The JSON of the request; ``extra_parameters`` are sent as they are."""
    body: dict[str, Any] = {
        "model": binding.model,
        "messages": [
            {"role": "system", "content": question.prompt.system},
            {"role": "user", "content": question.prompt.user},
        ],
        binding.token_limit_parameter: binding.max_output_tokens,
        **binding.extra_parameters,
    }
    optional = {
        "temperature": binding.temperature,
        "seed": binding.seed,
        "logprobs": binding.logprobs or None,
        "response_format": _response_format(binding.structured_output, question.schema),
    }
    return body | {name: value for name, value in optional.items() if value is not None}


def _response_format(structured: StructuredOutput, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    match structured:
        case StructuredOutput.JSON_SCHEMA:
            form = {"name": "verdict", "strict": True, "schema": schema}
            return {"type": "json_schema", "json_schema": form}
        case StructuredOutput.JSON_OBJECT:
            return {"type": "json_object"}
        case StructuredOutput.NONE:
            return None


def read_completion(raw: bytes, *, logprobs: bool = False) -> Reply:
    """A reply out of the body of a success. Raises ModelError(PROVIDER_ERROR) for a body that is no completion.

    ``text`` is None when the model wrote none: reasoning alone, or a limit reached before the first word. Token counts
    and the finish reason are kept then too. ``logprobs`` says that they were asked for.
    """
    try:
        body = mapping(orjson.loads(raw))
    except orjson.JSONDecodeError as error:
        raise ModelError(Cause.PROVIDER_ERROR, "the body is not JSON") from error
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise ModelError(Cause.PROVIDER_ERROR, "the body is no chat completion: it has no choices")
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise ModelError(Cause.PROVIDER_ERROR, "the body is no chat completion: its choice has no message")
    usage = mapping(body.get("usage"))
    text = _text(message.get("content"))
    reply = Reply(
        text=text,
        finish_reason=word(choices[0].get("finish_reason")),
        refusal=bool(message.get("refusal")),
        reasoned=text is None and _reasoned(message),
        model=word(body.get("model")),
        fingerprint=word(body.get("system_fingerprint")),
        input_tokens=count(usage.get("prompt_tokens")),
        output_tokens=count(usage.get("completion_tokens")),
    )
    if not logprobs:
        return reply
    found = label_probability(mapping(choices[0].get("logprobs")).get("content"), text)
    return replace(reply, label_probability=found.value, label_probability_absent=found.absent)


def _text(content: Any) -> str | None:
    """Content is a string, or a list of parts of which the ones of type text count."""
    if isinstance(content, list):
        parts = (mapping(part) for part in content)
        content = "".join(p["text"] for p in parts if p.get("type") == "text" and isinstance(p.get("text"), str))
    return content if isinstance(content, str) and content.strip() else None


def _reasoned(message: Mapping[str, Any]) -> bool:
    """Reasoning stands beside the content under either name, or is a part of it of another type than text."""
    return any(message.get(name) for name in ("reasoning_content", "reasoning")) or isinstance(
        message.get("content"), list
    )
