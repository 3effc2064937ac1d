"""The control topic as state: the newest command counts, a mangled one holds."""

from __future__ import annotations

from datetime import UTC, datetime

from schemas.codec import encode
from schemas.control import KillSwitch
from workers.runtime.control import ControlState
from workers.runtime.records import InRecord


def command(offset: int, *, killed: bool) -> InRecord:
    at = datetime(2026, 11, 30, tzinfo=UTC)
    switch = KillSwitch(event_id=f"e{offset}", killed=killed, operator="ann", reason="INC-1", at=at)
    return InRecord("assay.control", 0, offset, b"kill_switch", encode(switch))


def test_an_empty_topic_is_running() -> None:
    assert not ControlState().killed


def test_the_newest_command_counts_and_an_older_one_read_again_changes_nothing() -> None:
    kill, resume = command(4, killed=True), command(9, killed=False)
    state = ControlState().after(kill)
    assert (state.killed, state.by, state.reason) == (True, "ann", "INC-1")
    state = state.after(resume)
    assert not state.killed
    assert state.after(kill) == state


def test_a_record_that_cannot_be_read_holds_until_a_readable_command() -> None:
    state = ControlState().after(InRecord("assay.control", 0, 0, b"kill_switch", b'{"killed": tru'))
    assert state.killed
    assert "cannot be read" in state.reason
    assert not state.after(command(1, killed=False)).killed
