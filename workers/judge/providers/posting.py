"""One JSON question, one JSON answer over HTTP: sizes capped, every failure named, no body ever quoted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import aiohttp
import httpx
import orjson

from schemas.errors import ModelError
from schemas.verdict_space import Cause
from workers.judge.providers.http import read_capped, retry_after, transport_error

MAX_BODY_BYTES = 1024 * 1024
MAX_ERROR_BYTES = 64 * 1024

_SAFE_WORD = re.compile(r"[A-Za-z0-9_.\[\]-]{1,64}")


def utc_now() -> datetime:
    return datetime.now(UTC)


class Poster:
    """Posts to one address, once a call. Holds nothing between calls but the shared client."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        url: httpx.URL,
        headers: Mapping[str, str],
        *,
        now: Callable[[], datetime] = utc_now,
        max_body_bytes: int = MAX_BODY_BYTES,
    ) -> None:
        self._client, self._url = client, url
        self._headers = httpx.Headers({"Content-Type": "application/json", "Accept": "application/json", **headers})
        self._headers["Accept-Encoding"] = "identity"  # a small compressed body cannot grow past the size cap unseen
        self._extensions = {"timeout": client.timeout.as_dict()}
        self._now, self._max_body_bytes = now, max_body_bytes

    async def post(self, question: Mapping[str, Any]) -> bytes:
        """The body of a success. Raises ModelError with the cause of anything else."""
        body = json.dumps(question).encode()  # ASCII: no text of a draft can break it
        # Made here and not by the client, whose merging of URLs, headers and cookies is a fifth of a call's cost.
        request = httpx.Request("POST", self._url, headers=self._headers, content=body, extensions=self._extensions)
        try:
            response = await self._client.send(request, stream=True)
            try:
                return await self._body_of_success(response)
            finally:
                await response.aclose()
        except (httpx.HTTPError, aiohttp.ClientError, OSError) as error:
            raise transport_error(error) from error

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
        error = mapping(mapping(orjson.loads(body)).get("error"))
    except orjson.JSONDecodeError:
        return {}
    words = ((key, error.get(key)) for key in ("code", "type", "param"))
    return {key: word for key, word in words if isinstance(word, str) and _SAFE_WORD.fullmatch(word)}


def mapping(value: Any) -> Mapping[str, Any]:
    """The value when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def word(value: Any) -> str | None:
    """A short text of the provider's, cut so that it cannot swell a record."""
    return value[:128] if isinstance(value, str) and value else None


def count(value: Any) -> int | None:
    """A number of tokens, or None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
