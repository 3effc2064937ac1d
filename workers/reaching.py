"""From settings to what judges reach outside: endpoints with their limits, and prices. Files are read here."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

from schemas.bom import DEFAULT_ENDPOINT, Bom
from schemas.errors import SettingsError
from workers.judge.build import calls_of
from workers.judge.limits.endpoint_limits import Allowance, EndpointLimits
from workers.judge.pricing import Prices, read_prices
from workers.judge.protocols import Counters
from workers.judge.providers.endpoint import Endpoint
from workers.judge.providers.endpoints import EndpointEntry, Endpoints, Reach, endpoint_of_entry, read_endpoints
from workers.judge.providers.http import http_client
from workers.runtime.settings import Settings


async def endpoints_of(settings: Settings, bom: Bom, stack: AsyncExitStack, counters: Counters) -> Endpoints | None:
    """Where the BOM's models are served, behind one client that ``stack`` closes; None where none is over HTTP."""
    if not any(binding.provider.over_http for binding in bom.bindings.values()):
        return None
    most = settings.concurrency * max(calls_of(bom), 1)
    entries = {name: (endpoint_of_entry(name, entry, read=_read), entry) for name, entry in _entries(settings).items()}
    if settings.model_base_url is not None:
        entries[DEFAULT_ENDPOINT] = (Endpoint(settings.model_base_url, settings.model_api_key), _default(settings))
    reached = {
        name: Reach(endpoint, EndpointLimits(name, _allowance(entry, most), counters=counters))
        for name, (endpoint, entry) in entries.items()
    }
    in_flight = sum(_allowance(entry, most).max_in_flight for _, entry in entries.values())
    # Never fewer connections than calls: waiting for one would count as the model's silence.
    client = await stack.enter_async_context(http_client(max_connections=max(in_flight, 1)))
    return Endpoints(client, reached)


def prices_of(settings: Settings) -> Prices:
    """The price table, empty where none is set. Raises SettingsError."""
    if settings.prices is None:
        return {}
    text = _text("ASSAY_PRICES", settings.prices)
    try:
        return read_prices(text)
    except SettingsError as error:
        raise SettingsError(f"ASSAY_PRICES: {settings.prices}: {error}") from error


def _entries(settings: Settings) -> dict[str, EndpointEntry]:
    if settings.endpoints is None:
        return {}
    return dict(read_endpoints(_text("ASSAY_ENDPOINTS", settings.endpoints)))


def _default(settings: Settings) -> EndpointEntry:
    return EndpointEntry(
        base_url=settings.model_base_url or "",
        requests_per_minute=settings.model_requests_per_minute,
        tokens_per_minute=settings.model_tokens_per_minute,
        max_in_flight=settings.model_max_in_flight,
    )


def _allowance(entry: EndpointEntry, most: int) -> Allowance:
    return Allowance(entry.max_in_flight or most, entry.requests_per_minute, entry.tokens_per_minute)


def _text(setting: str, path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{setting}: {path} cannot be read ({type(error).__name__})") from error


def _read(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")
