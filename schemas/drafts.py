"""Draft: what a producer publishes. Only ``item_id``, ``text`` and ``context.instruction`` are needed."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, ClassVar, Literal

from pydantic import Field, JsonValue, StringConstraints, field_validator

from schemas.ids import event_id, sha256_json, sha256_text
from schemas.message import EventId, ItemId, ItemMessage, Name, Part, Sha256, UtcTime

MAX_TEXT_CHARS = 1_000_000
MAX_ATTEMPT = 1_000


class ContextItem(Part):
    """One thing the text is about (``target``) or is compared with (``reference``). ``metadata`` null = unreadable."""

    role: Name
    metadata: JsonValue = None


class Context(Part):
    """What the judge reads beside the text. Without an instruction no judge decides (S1, "Run rules")."""

    instruction: Annotated[str, StringConstraints(max_length=100_000)] | None = None
    constraints: Annotated[tuple[str, ...], Field(max_length=256)] = ()
    items: Annotated[tuple[ContextItem, ...], Field(max_length=64)] = ()

    def plain(self) -> dict[str, JsonValue]:
        """What ``model_dump(mode="json")`` gives, in a tenth of the time: metadata is plain JSON already."""
        return {
            "instruction": self.instruction,
            "constraints": list(self.constraints),
            "items": [{"role": item.role, "metadata": item.metadata} for item in self.items],
        }

    @cached_property
    def json_chars(self) -> int:
        """How long it is as JSON: what a judge would have to read."""
        return len(self.model_dump_json())

    @property
    def instructed(self) -> bool:
        return bool(self.instruction and self.instruction.strip())


class Revises(Part):
    """What a revised draft echoes from the request it answers. Echoed, never computed by the producer."""

    revision_id: EventId
    round_id: EventId
    judged_sha256: Sha256


class Draft(ItemMessage):
    """One text to judge. ``attempt`` 0 is the first draft of a round; later ones quote the request they answer.

    ``rival`` is the text that pairwise criteria compare it with; it is never served.
    """

    ce_type: ClassVar[str] = "assay.draft.v1"

    type: Literal["draft"] = "draft"
    item_id: ItemId
    attempt: Annotated[int, Field(ge=0, le=MAX_ATTEMPT, strict=True)] = 0
    text: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT_CHARS, strict=True)]
    rival: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT_CHARS, strict=True)] | None = None
    generator_model: Name | None = None
    context: Context = Context()
    slices: Annotated[tuple[Name, ...], Field(max_length=64)] = ()
    revises: Revises | None = None
    created_at: UtcTime | None = None

    @field_validator("text", "rival")
    @classmethod
    def _not_blank(cls, text: str | None) -> str | None:
        if text is not None and not text.strip():
            raise ValueError("holds nothing but white space; publish the text to judge")
        return text

    @cached_property
    def text_sha256(self) -> str:
        """Finds the text. Hex digest of its UTF-8."""
        return sha256_text(self.text)

    @cached_property
    def judged_sha256(self) -> str:
        """Names what is judged: text, context and rival, never slices, generator, item or attempt."""
        judged = {"text": self.text, "context": self.context.plain()}
        return sha256_json(judged if self.rival is None else {**judged, "rival": self.rival})

    def default_event_id(self, topic: str) -> str:
        """The id of a draft whose producer gave it no ``ce_id``."""
        return event_id("draft", topic, self.item_id, self.attempt, self.judged_sha256)
