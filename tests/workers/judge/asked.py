"""What the tests of the judge ask, and of whom."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx

from schemas.bom import ModelBinding, Provider
from schemas.drafts import Draft
from workers.judge.limits.endpoint_limits import Allowance, EndpointLimits
from workers.judge.protocols import Counters, NoCounters, Prompt, Question
from workers.judge.providers.endpoint import Endpoint
from workers.judge.providers.endpoints import Endpoints, Reach

SCHEMA = {
    "type": "object",
    "properties": {"label": {"type": "string"}},
    "required": ["label"],
    "additionalProperties": False,
}


def draft(text: str = "A phone with a 6.1 inch display.", **changes: Any) -> Draft:
    return Draft.model_validate(
        {"item_id": "sku-1", "text": text, "context": {"instruction": "Describe the phone."}, **changes}
    )


def question(text: str = "A phone with a 6.1 inch display.", **changes: Any) -> Question:
    return Question("grounding", Prompt("You judge.", f"Draft: {text}"), SCHEMA, draft(text, **changes))


def binding(**changes: Any) -> ModelBinding:
    fields = {"provider": Provider.OPENAI_COMPATIBLE, "model": "judge-1", "family": "judge", **changes}
    return ModelBinding.model_validate(fields)


def within(seconds: float) -> float:
    """A deadline on the running loop's clock."""
    return asyncio.get_running_loop().time() + seconds


def served_at(
    url: str,
    client: httpx.AsyncClient,
    *,
    name: str = "default",
    allowance: Allowance | None = None,
    counters: Counters | None = None,
) -> Endpoints:
    """One endpoint with its limits."""
    limits = EndpointLimits(name, allowance or Allowance(100), counters=counters or NoCounters())
    return Endpoints(client, {name: Reach(Endpoint(url), limits)})
