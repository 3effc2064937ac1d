"""The control topic as current state: is serving killed? Read whole before the first draft, then followed.

A control record that cannot be read holds the worker as if killed until a readable command comes: an operator's
mangled kill must not be passed over.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from schemas.codec import decode
from schemas.control import KillSwitch
from schemas.errors import AssayError, BadMessage
from schemas.headers import CE_TYPE, header
from schemas.topics import CONTROL
from workers.runtime.connection import Connection
from workers.runtime.logs import event
from workers.runtime.naming import Names
from workers.runtime.reading import follow, read_to_end
from workers.runtime.records import InRecord


class ControlState(NamedTuple):
    """What the operators want. ``next_offset`` is the first record that is not part of it yet."""

    killed: bool = False
    by: str = ""
    reason: str = ""
    next_offset: int = 0

    def after(self, record: InRecord) -> ControlState:
        """The state with one more record; an older one changes nothing."""
        if record.offset < self.next_offset:
            return self
        seen = self._replace(next_offset=record.offset + 1)
        try:
            message = decode(CONTROL, record.value, ce_type=header(record.headers, CE_TYPE)).message
        except BadMessage as error:
            return seen._replace(killed=True, by="nobody", reason=f"a control record cannot be read: {error}")
        assert isinstance(message, KillSwitch)
        return seen._replace(killed=message.killed, by=message.operator, reason=message.reason)


async def read_control(kafka: Connection, names: Names) -> ControlState:
    """The state now. Raises DependencyUnavailable when the topic cannot be read: then nothing may start."""
    state = ControlState()
    async for record in read_to_end(kafka, [names.full(CONTROL)]):
        state = state.after(record)
    return state


class ControlWatch:
    """Follows the control topic and tells of every change of ``killed``. ``failed`` is told when it can no longer."""

    def __init__(
        self,
        kafka: Connection,
        names: Names,
        *,
        changed: Callable[[ControlState], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        self._kafka, self._names, self._changed, self._failed = kafka, names, changed, failed
        self.state = ControlState()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Read the whole topic, tell of the state, then go on in the background."""
        self._become(await read_control(self._kafka, self._names), first=True)
        self._task = asyncio.create_task(self._follow())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _follow(self) -> None:
        try:
            async for record in follow(self._kafka, [self._names.full(CONTROL)], from_beginning=True):
                self._become(self.state.after(record))
        except AssayError as error:
            self._failed(error)

    def _become(self, state: ControlState, *, first: bool = False) -> None:
        before, self.state = self.state, state
        if first or state.killed != before.killed:
            if state.killed or not first:
                level = logging.WARNING if state.killed else logging.INFO
                event("killed" if state.killed else "resumed", level=level, by=state.by, reason=state.reason)
            self._changed(state)
