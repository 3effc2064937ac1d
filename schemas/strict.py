"""What every file of a BOM is checked with."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]
Cost = Annotated[float, Field(ge=0)]


class Strict(BaseModel):
    """A file of the BOM is written by us: an unknown field is a mistake, not a newer version."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
