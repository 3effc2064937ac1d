"""Where a message came from: what a handler may know of the record that carried it."""

from __future__ import annotations

from typing import NamedTuple

from schemas.headers import NO_TRACE, Trace
from schemas.verdict_space import Flag


class Origin(NamedTuple):
    """``event_id`` is the record's ``ce_id``, or what the message derives; ``uri`` finds the record again."""

    event_id: str
    uri: str  # kafka://topic/partition/offset
    trace: Trace = NO_TRACE
    flags: tuple[Flag, ...] = ()  # what the codec had to mend
