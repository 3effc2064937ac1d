"""Where a model is served, and with which key."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass, field

import httpx
from pydantic import SecretStr

from schemas.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address and a key. Both are settings of the environment; the key never reaches an error, log or repr."""

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

    def url(self, path: str) -> httpx.URL:
        """The address of one of its methods, ``/chat/completions``; user and password go into a header instead."""
        # aiohttp raises on a URL with credentials beside httpx's header of the same (httpx-aiohttp 0.2).
        return httpx.URL(self.base_url.rstrip("/") + path).copy_with(userinfo=b"")

    @property
    def shown(self) -> str:
        """The address for people, without what may be secret in it."""
        return str(httpx.URL(self.base_url).copy_with(userinfo=b"", query=None, fragment=None))

    def bearer(self) -> dict[str, str]:
        """The key as most endpoints want it, or the URL's user and password. Raises SettingsError for both."""
        if self.api_key is None:
            return self._basic()
        if self._basic():
            raise SettingsError("the model's base URL has a user in it, and a key is set too: give one of them")
        return {"Authorization": f"Bearer {self.api_key.get_secret_value()}"}

    def x_api_key(self) -> dict[str, str]:
        """The key as Anthropic wants it, beside the URL's user and password."""
        return self._basic() | ({} if self.api_key is None else {"x-api-key": self.api_key.get_secret_value()})

    def _basic(self) -> dict[str, str]:
        url = httpx.URL(self.base_url)
        pair = f"{url.username}:{url.password}"
        return {} if pair == ":" else {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
