"""What the demo publishes: about sixty product items with planted faults, and a few records that no worker can read.

The files beside this one are data. ``expected_decision`` and ``expected_attempt`` of an item are what the BOM in
``boms/product-descriptions`` and the generator in ``workers.embedded.generator`` make of it together.
"""

from __future__ import annotations

import json
from datetime import datetime
from importlib import resources

from pydantic import BaseModel, ConfigDict, JsonValue

from schemas.decisions import Decision
from schemas.drafts import Context, ContextItem, Draft
from schemas.errors import BadMessageKind


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DemoItem(_Line):
    """One product: its spec sheet, its first draft, what is wrong with the draft, and what becomes of it."""

    item_id: str
    generator_model: str
    instruction: str | None
    constraints: tuple[str, ...]
    metadata: JsonValue
    slices: tuple[str, ...]
    draft: str
    faults: tuple[str, ...]
    hostile: str | None
    expected_decision: Decision
    expected_attempt: int

    def first_draft(self, *, now: datetime | None = None) -> Draft:
        """The draft as a producer publishes it."""
        context = Context(
            instruction=self.instruction,
            constraints=self.constraints,
            items=(ContextItem(role="target", metadata=self.metadata),),
        )
        return Draft(
            item_id=self.item_id,
            text=self.draft,
            generator_model=self.generator_model,
            context=context,
            slices=self.slices,
            created_at=now,
        )


class PoisonRecord(_Line):
    """A record for the dead letters. ``raw`` holds one character a byte (Latin-1), so that any bytes can be written."""

    kind: BadMessageKind
    key: str
    raw: str

    @property
    def value(self) -> bytes:
        return self.raw.encode("latin-1")


def demo_items() -> list[DemoItem]:
    """The items in the order in which the demo publishes them."""
    return [DemoItem.model_validate(line) for line in _lines("demo_items.jsonl")]


def poison_records() -> list[PoisonRecord]:
    """The unreadable records; spread them among the drafts, or the dead-letter limit takes them for a bad deploy."""
    return [PoisonRecord.model_validate(line) for line in _lines("demo_poison.jsonl")]


def _lines(name: str) -> list[JsonValue]:
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]
