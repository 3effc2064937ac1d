"""What a setting must look like: found out before anything starts. Pure, but for whether a file is there."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr


def servers_of(value: str | None) -> list[str]:
    """``host:port,host:port``. Raises ValueError for anything else."""
    servers = [server.strip() for server in (value or "").split(",") if server.strip()]
    for server in servers:
        host, _, port = server.rpartition(":")
        if not host or "/" in host or not port.isdigit():
            raise ValueError("must be host:port, or several with commas between")
    return servers


def http_url(value: str | None) -> str | None:
    """A URL that can be posted to. Raises ValueError, which never holds the value: it may have a password in it."""
    return value if value is None else _url(value, ("http", "https"))


def secret_http_url(value: SecretStr | None) -> SecretStr | None:
    if value is not None:
        _url(value.get_secret_value(), ("http", "https"))
    return value


def redis_url(value: SecretStr | None) -> SecretStr | None:
    if value is not None:
        _url(value.get_secret_value(), ("redis", "rediss", "unix"))
    return value


def file_there(value: Path | None) -> Path | None:
    if value is not None and not value.is_file():
        raise ValueError("there is no such file")
    return value


def _url(value: str, schemes: Collection[str]) -> str:
    begins = " or ".join(f"{scheme}://" for scheme in schemes)
    try:
        parts = urlsplit(value)
        _ = parts.port  # raises for what is no number
    except ValueError:
        raise ValueError("is no URL; is its port a number?") from None
    if parts.scheme not in schemes or not (parts.hostname or parts.scheme == "unix"):
        raise ValueError(f"must begin with {begins} and name a host")
    return value
