"""What every message is: frozen, tolerant of unknown fields on the way in, exact on the way out."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

ItemId = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=128)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
EventId = Annotated[str, StringConstraints(min_length=1, max_length=128)]


def _to_utc(moment: datetime) -> datetime:
    """A time without a zone is read as UTC; every other is turned into UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


UtcTime = Annotated[datetime, AfterValidator(_to_utc)]


class Part(BaseModel):
    """A piece of a message."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class Message(Part):
    """A record's value. ``type`` says its kind in the body, so that a record is understood without its headers."""

    ce_type: ClassVar[str]

    type: str

    def key(self) -> str:
        """The record's key: records of one item stay in order."""
        raise NotImplementedError


class ItemMessage(Message):
    """A message about one item, keyed by it."""

    item_id: ItemId

    def key(self) -> str:
        return self.item_id


class Emitted(ItemMessage):
    """A message of ours. Its event id derives from its cause; it is the record's ``ce_id`` too."""

    event_id: EventId
