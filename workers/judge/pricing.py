"""What a verdict cost. Unknown stays unknown: it is never 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from schemas.errors import SettingsError

PerMtok = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(BaseModel):
    """US dollars for a million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input_per_mtok: PerMtok
    output_per_mtok: PerMtok


Prices = Mapping[str, Price]
"""Model id, as it is pinned in the bindings -> its price."""

_TABLE = TypeAdapter(dict[str, Price])


def read_prices(text: str) -> Prices:
    """The price table of the settings: YAML, ``model: {input_per_mtok: ..., output_per_mtok: ...}``."""
    try:
        return _TABLE.validate_python(yaml.safe_load(text) or {})
    except yaml.YAMLError as error:
        raise SettingsError(f"price table: not YAML: {str(error).splitlines()[0]}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise SettingsError(f"price table: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def cost_usd(price: Price | None, *, input_tokens: int | None, output_tokens: int | None) -> float | None:
    """Dollars, or None where the price or a token count is unknown."""
    if price is None or input_tokens is None or output_tokens is None:
        return None
    return (input_tokens * price.input_per_mtok + output_tokens * price.output_per_mtok) / 1_000_000
