"""The endpoints that a worker's models are served at, by name, each with the limits that all its judges share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

import httpx
import yaml
from pydantic import BaseModel, ConfigDict, Field, SecretStr, TypeAdapter, ValidationError

from schemas.bom import DEFAULT_ENDPOINT
from schemas.errors import SettingsError
from workers.judge.limits.endpoint_limits import EndpointLimits
from workers.judge.providers.endpoint import Endpoint

PerMinute = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class EndpointEntry(BaseModel):
    """One endpoint of the settings' file. The key itself is in a file of its own, or in none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str = Field(repr=False)
    api_key_file: str | None = None
    requests_per_minute: PerMinute | None = None
    tokens_per_minute: PerMinute | None = None
    max_in_flight: Annotated[int, Field(ge=1)] | None = None


@dataclass(frozen=True, slots=True)
class Reach:
    """How one endpoint is reached, and how hard it may be used."""

    endpoint: Endpoint
    limits: EndpointLimits


@dataclass(frozen=True, slots=True)
class Endpoints:
    """All endpoints of a worker, behind one HTTP client."""

    client: httpx.AsyncClient
    by_name: Mapping[str, Reach]

    def named(self, name: str, *, model: str) -> Reach:
        """Raises SettingsError with the setting that is missing."""
        if name in self.by_name:
            return self.by_name[name]
        where = "set ASSAY_MODEL_BASE_URL" if name == DEFAULT_ENDPOINT else f"name endpoint {name!r} in ASSAY_ENDPOINTS"
        raise SettingsError(f"the BOM binds model {model!r}; {where} to say where it is served")


_FILE = TypeAdapter(dict[str, EndpointEntry])


def read_endpoints(text: str) -> Mapping[str, EndpointEntry]:
    """The endpoints file of the settings: YAML, ``name: {base_url: ..., api_key_file: ...}``. Raises SettingsError."""
    try:
        entries = _FILE.validate_python(yaml.safe_load(text) or {})
    except (yaml.YAMLError, RecursionError) as error:
        raise SettingsError(f"endpoints: not YAML: {type(error).__name__}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        raise SettingsError(f"endpoints: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    if DEFAULT_ENDPOINT in entries:
        raise SettingsError(f"endpoints: {DEFAULT_ENDPOINT!r} is set by ASSAY_MODEL_BASE_URL; choose another name")
    return entries


def endpoint_of_entry(name: str, entry: EndpointEntry, *, read: Callable[[str], str]) -> Endpoint:
    """``read`` gives a file's text or raises OSError. Raises SettingsError that names the endpoint."""
    try:
        key = None if entry.api_key_file is None else SecretStr(read(entry.api_key_file).strip())
        return Endpoint(entry.base_url, key)
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"endpoints: {name}: api_key_file {entry.api_key_file} cannot be read ({type(error).__name__})"
        ) from error
    except SettingsError as error:
        raise SettingsError(f"endpoints: {name}: {error}") from error
