"""Operator's commands on the compacted control topic: the current state of the whole system."""

from __future__ import annotations

from typing import ClassVar, Literal

from schemas.message import EventId, Message, Name, UtcTime


class KillSwitch(Message):
    """While ``killed`` nothing is served: drafts wait, uncommitted. The newest one counts."""

    ce_type: ClassVar[str] = "assay.kill_switch.v1"

    type: Literal["kill_switch"] = "kill_switch"
    event_id: EventId
    killed: bool
    operator: Name
    reason: str
    at: UtcTime

    def key(self) -> str:
        return self.type
