"""``assay control``: stop all serving in an emergency, and let it go on."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Annotated

import typer

from schemas.codec import encode
from schemas.control import KillSwitch
from schemas.headers import headers_for
from schemas.ids import event_id
from workers.cli.context import clear_errors, cluster_settings
from workers.cli.output import console, print_json
from workers.runtime.connection import check, connection
from workers.runtime.control import ControlState, read_control
from workers.runtime.naming import Names
from workers.runtime.printable import escaped
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.records import OutRecord
from workers.runtime.settings import Settings

control_app = typer.Typer(name="control", help="Stop all serving, let it go on, see which.", no_args_is_help=True)

Operator = Annotated[str, typer.Option(help="Who commands it; kept on the record.")]
Reason = Annotated[str, typer.Option(help="Why; kept on the record.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


def register(app: typer.Typer) -> None:
    app.add_typer(control_app)


@control_app.command()
def kill(operator: Operator, reason: Reason, as_json: AsJson = False) -> None:
    """Serve nothing from now on: drafts wait, uncommitted, until `resume`."""
    _switch(True, operator, reason, as_json)


@control_app.command()
def resume(operator: Operator, reason: Reason, as_json: AsJson = False) -> None:
    """Let serving go on where it stopped."""
    _switch(False, operator, reason, as_json)


@control_app.command()
def status(as_json: AsJson = False) -> None:
    """Whether serving is killed, by whom and why."""
    with clear_errors():
        settings = cluster_settings()
        state = asyncio.run(read_control(connection(settings), Names(settings.topic_prefix)))
    _show(state, as_json)


def _switch(killed: bool, operator: str, reason: str, as_json: bool) -> None:
    now = datetime.now(UTC)
    made = event_id("kill_switch", operator, reason, str(killed), now.isoformat())
    switch = KillSwitch(event_id=made, killed=killed, operator=operator, reason=reason, at=now)
    with clear_errors():
        asyncio.run(_publish(switch, cluster_settings()))
    _show(ControlState(killed, operator, reason), as_json)


async def _publish(switch: KillSwitch, settings: Settings) -> None:
    kafka, topic = connection(settings), Names(settings.topic_prefix).of(switch)
    await check(kafka, [topic])
    producer = ConfirmedProducer(kafka, max_message_bytes=settings.max_message_bytes)
    await producer.start()
    try:
        headers = headers_for(switch, event_id=switch.event_id, source="/assay/operator", at=switch.at)
        await producer.produce([OutRecord(topic, switch.key().encode(), encode(switch), headers)])
    finally:
        await producer.stop()


def _show(state: ControlState, as_json: bool) -> None:
    if as_json:
        print_json({"killed": state.killed, "by": state.by, "reason": state.reason})
    elif state.killed:
        console.print(escaped(f"killed by {state.by}: {state.reason}"), style="red", markup=False)
    else:
        console.print("running", style="green")
