"""What the tests of the judge ask, and of whom."""

from __future__ import annotations

import asyncio
from typing import Any

from schemas.bom import ModelBinding, Provider
from schemas.drafts import Draft
from workers.judge.protocols import Prompt, Question

SCHEMA = {"type": "object", "properties": {"label": {"type": "string"}}, "additionalProperties": False}


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
