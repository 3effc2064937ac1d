"""The HTTP client that every model endpoint is asked through, and how its failures are named."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from schemas.errors import ModelError
from schemas.verdict_space import Cause

CONNECT_TIMEOUT_S = 5.0
KEEP_ALIVE_S = 5.0
MAX_RETRY_AFTER_S = 24 * 3600.0


def http_client(*, max_connections: int) -> httpx.AsyncClient:
    """One client for all judges of a worker. ``max_connections`` bounds the calls in flight; the rest queue.

    Over aiohttp's connections, since httpx's own pool collapses beyond about 50 requests in flight. The time of a call
    is bounded by ``RetryingModel``, not here; only connecting has its own limit. Cookies and proxies of the environment
    are not used: nothing but the question may change an answer.
    """

    def session() -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(limit=max_connections, keepalive_timeout=KEEP_ALIVE_S)
        return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())

    return httpx.AsyncClient(
        transport=AiohttpTransport(client=session),
        timeout=httpx.Timeout(None, connect=CONNECT_TIMEOUT_S),
    )


def transport_error(error: Exception) -> ModelError:
    """Names what broke the connection.

    The transport's own mapping cannot be used: it turns a refused connection and a connection closed while idle into
    ``ConnectTimeout`` alike (httpx-aiohttp 0.2), so aiohttp's error behind it decides.
    """
    broken = error.__cause__ if isinstance(error.__cause__, aiohttp.ClientError) else error
    name = type(broken).__name__
    if isinstance(broken, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError | aiohttp.InvalidURL):
        return ModelError(Cause.UNREACHABLE, name)
    if isinstance(broken, aiohttp.ServerDisconnectedError | aiohttp.ClientOSError):
        # Closed before any answer: most often a kept-alive connection that the server dropped while it was idle.
        return ModelError(Cause.CONNECTION_LOST, name, retry_after_s=0.0)
    if isinstance(broken, aiohttp.ClientPayloadError | OSError):
        return ModelError(Cause.CONNECTION_LOST, name)
    return ModelError(Cause.PROVIDER_ERROR, name)


def retry_after(value: str | None, *, now: datetime) -> float | None:
    """Seconds of a ``Retry-After`` header, given as seconds or as an HTTP date; None when absent or unreadable."""
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.replace(".", "", 1).isdigit():
        return min(float(text), MAX_RETRY_AFTER_S)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return min(max((moment - now).total_seconds(), 0.0), MAX_RETRY_AFTER_S)


async def read_capped(response: httpx.Response, *, max_bytes: int) -> bytes:
    """The body, or ModelError(REPLY_TOO_LARGE) as soon as it is longer than ``max_bytes``: it may have no end."""
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > max_bytes:
            raise ModelError(Cause.REPLY_TOO_LARGE, f"more than {max_bytes} bytes")
    return bytes(body)
