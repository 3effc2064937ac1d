"""Chat completions of any OpenAI-compatible endpoint: vLLM, Ollama, llama.cpp's server, hosted ones."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import aiohttp
import httpx
import orjson
from pydantic import SecretStr

from schemas.bom import ModelBinding, StructuredOutput
from schemas.errors import BomError, ModelError, SettingsError
from schemas.verdict_space import Cause
from workers.judge.protocols import Question, Reply
from workers.judge.providers.http import read_capped, retry_after, transport_error

MAX_BODY_BYTES = 1024 * 1024
MAX_ERROR_BYTES = 64 * 1024

_OURS = frozenset({"model", "messages", "temperature", "seed", "max_tokens", "response_format", "stream", "n"})
_SAFE_WORD = re.compile(r"[A-Za-z0-9_.\[\]-]{1,64}")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is served. Both are settings of the environment; the key never reaches an error, log or repr."""

    base_url: str = field(repr=False)  # may hold a user and a password
    api_key: SecretStr | None = None

    def __post_init__(self) -> None:
        try:
            url = httpx.URL(self.base_url)
        except httpx.InvalidURL as error:
            raise SettingsError(f"the model's base URL cannot be read: {error}") from error
        if url.scheme not in {"http", "https"} or not url.host:
            raise SettingsError("the model's base URL must start with http:// or https:// and name a host")
        if self.api_key is not None and not re.fullmatch(r"[!-~]+", self.api_key.get_secret_value()):
            raise SettingsError("the model's API key is empty or holds characters that no HTTP header may carry")

    @property
    def completions_url(self) -> httpx.URL:
        return httpx.URL(self.base_url.rstrip("/") + "/chat/completions")

    def headers(self) -> httpx.Headers:
        headers = httpx.Headers({"Content-Type": "application/json", "Accept": "application/json"})
        headers["Accept-Encoding"] = "identity"  # a small compressed body cannot grow past the size cap unseen
        if self.api_key is not None:
            headers["Authorization"] = f"Bearer {self.api_key.get_secret_value()}"
        return headers


class OpenAICompatible:
    """Asks one pinned model, once a call. Holds nothing between calls but the shared client."""

    def __init__(
        self,
        binding: ModelBinding,
        endpoint: Endpoint,
        client: httpx.AsyncClient,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        max_body_bytes: int = MAX_BODY_BYTES,
    ) -> None:
        if taken := sorted(_OURS & binding.extra_parameters.keys()):
            raise BomError(f"bindings.yaml: extra_parameters may not set {taken[0]!r}: the binding has its own field")
        self._binding, self._client = binding, client
        self._url, self._headers = endpoint.completions_url, endpoint.headers()
        self._extensions = {"timeout": client.timeout.as_dict()}
        self._now, self._max_body_bytes = now, max_body_bytes

    async def ask(self, question: Question, *, deadline: float) -> Reply:
        body = json.dumps(request_body(self._binding, question)).encode()  # ASCII: no text of a draft can break it
        # Made here and not by the client, whose merging of URLs, headers and cookies is a fifth of a call's cost.
        request = httpx.Request("POST", self._url, headers=self._headers, content=body, extensions=self._extensions)
        try:
            response = await self._client.send(request, stream=True)
            try:
                raw = await self._body_of_success(response)
            finally:
                await response.aclose()
        except (httpx.HTTPError, aiohttp.ClientError, OSError) as error:
            raise transport_error(error) from error
        return read_completion(raw)

    async def close(self) -> None:
        """The client is shared: whoever made it closes it."""

    async def _body_of_success(self, response: httpx.Response) -> bytes:
        if not response.is_success:
            raise await self._refused(response)
        return await read_capped(response, max_bytes=self._max_body_bytes)

    async def _refused(self, response: httpx.Response) -> ModelError:
        wait_s = retry_after(response.headers.get("retry-after"), now=self._now())
        try:
            raw = await read_capped(response, max_bytes=MAX_ERROR_BYTES)
        except (ModelError, httpx.HTTPError, aiohttp.ClientError, OSError):
            raw = b""  # the status alone decides; the body only words the detail
        return status_error(response.status_code, raw, retry_after_s=wait_s)


def request_body(binding: ModelBinding, question: Question) -> dict[str, Any]:
    """The JSON of the request; ``extra_parameters`` are sent as they are."""
    body: dict[str, Any] = {
        "model": binding.model,
        "messages": [
            {"role": "system", "content": question.prompt.system},
            {"role": "user", "content": question.prompt.user},
        ],
        "temperature": binding.temperature,
        **binding.extra_parameters,
    }
    if "max_completion_tokens" not in body:  # newer endpoints know the limit by this name alone
        body["max_tokens"] = binding.max_output_tokens
    if binding.seed is not None:
        body["seed"] = binding.seed
    if (form := _response_format(binding.structured_output, question.schema)) is not None:
        body["response_format"] = form
    return body


def _response_format(structured: StructuredOutput, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    match structured:
        case StructuredOutput.JSON_SCHEMA:
            return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": dict(schema)}}
        case StructuredOutput.JSON_OBJECT:
            return {"type": "json_object"}
        case StructuredOutput.NONE:
            return None


def status_error(status: int, body: bytes, *, retry_after_s: float | None) -> ModelError:
    """The cause of a reply that is no success. Its body is never quoted: providers echo prompts and keys there."""
    words = _error_words(body)
    detail = " ".join([f"HTTP {status}", *(f"{key}={word}" for key, word in words.items())])
    if status == 429:
        return ModelError(Cause.RATE_LIMITED, detail, retry_after_s=retry_after_s)
    if status in {401, 403}:
        return ModelError(Cause.UNAUTHORIZED, detail)
    if status == 408:
        return ModelError(Cause.TIMEOUT, detail, retry_after_s=retry_after_s)
    if status >= 500:
        return ModelError(Cause.PROVIDER_ERROR, detail, retry_after_s=retry_after_s)
    if words.get("code") == "content_filter":
        return ModelError(Cause.REFUSED, detail)
    return ModelError(Cause.BAD_REQUEST, detail)


def _error_words(body: bytes) -> dict[str, str]:
    """The provider's own code, type and parameter name where they are plain words; anything else is left out."""
    try:
        error = _mapping(_mapping(orjson.loads(body)).get("error"))
    except orjson.JSONDecodeError:
        return {}
    words = ((key, error.get(key)) for key in ("code", "type", "param"))
    return {key: word for key, word in words if isinstance(word, str) and _SAFE_WORD.fullmatch(word)}


def read_completion(raw: bytes) -> Reply:
    """A reply out of the body of a success. Raises ModelError(PROVIDER_ERROR) for a body that is no completion.

    ``text`` is None when the model wrote none: reasoning alone, or a limit reached before the first word. Token counts
    and the finish reason are kept then too.
    """
    try:
        body = _mapping(orjson.loads(raw))
    except orjson.JSONDecodeError as error:
        raise ModelError(Cause.PROVIDER_ERROR, "the body is not JSON") from error
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise ModelError(Cause.PROVIDER_ERROR, "the body is no chat completion: it has no choices")
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise ModelError(Cause.PROVIDER_ERROR, "the body is no chat completion: its choice has no message")
    usage = _mapping(body.get("usage"))
    text = _text(message.get("content"))
    return Reply(
        text=text,
        finish_reason=_word(choices[0].get("finish_reason")),
        refusal=bool(message.get("refusal")),
        reasoned=text is None and _reasoned(message),
        model=_word(body.get("model")),
        fingerprint=_word(body.get("system_fingerprint")),
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(content: Any) -> str | None:
    """Content is a string, or a list of parts of which the ones of type text count."""
    if isinstance(content, list):
        parts = (_mapping(part) for part in content)
        content = "".join(p["text"] for p in parts if p.get("type") == "text" and isinstance(p.get("text"), str))
    return content if isinstance(content, str) and content.strip() else None


def _reasoned(message: Mapping[str, Any]) -> bool:
    """Reasoning stands beside the content under either name, or is a part of it of another type than text."""
    return any(message.get(name) for name in ("reasoning_content", "reasoning")) or isinstance(
        message.get("content"), list
    )


def _word(value: Any) -> str | None:
    """A short text of the provider's, cut so that it cannot swell a record."""
    return value[:128] if isinstance(value, str) and value else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
