"""Where a model is served, and with which key."""

from __future__ import annotations

import re
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
        """The address of one of its methods, ``/chat/completions``."""
        return httpx.URL(self.base_url.rstrip("/") + path)

    def bearer(self) -> dict[str, str]:
        """The key as most endpoints want it."""
        return {} if self.api_key is None else {"Authorization": f"Bearer {self.api_key.get_secret_value()}"}

    def x_api_key(self) -> dict[str, str]:
        """The key as Anthropic wants it."""
        return {} if self.api_key is None else {"x-api-key": self.api_key.get_secret_value()}
