"""``assay run ROLE`` and ``assay up``: one worker, or all of them."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated

import typer
from prometheus_client import CollectorRegistry

from schemas.bom import Bom
from schemas.errors import BomError, SettingsError
from schemas.topics import TOPICS
from workers.bom import load_bom, read_files
from workers.bom.example import example_bom
from workers.canary.certificate import certificate_of
from workers.cli.context import clear_errors, cluster_settings, settings_of
from workers.cli.output import notes
from workers.embedded.services import ChildServices
from workers.embedded.whereabouts import Whereabouts, announce, note_file, refuse_second, withdraw
from workers.judge.build import check_instrument
from workers.local.stage import EMBEDDED_PARTITIONS
from workers.local.supervisor import Supervisor, worker_command
from workers.roles import ROLES, run_role
from workers.runtime.connection import check, connection
from workers.runtime.garbage import collect_less
from workers.runtime.logs import event, set_up
from workers.runtime.metrics import Metrics
from workers.runtime.naming import Names
from workers.runtime.settings import Settings
from workers.runtime.topic_limits import check_limits

LAST_PORT = 65_535

RoleName = StrEnum("RoleName", {name.upper(): name for name in ROLES})  # type: ignore[misc]  # the menu is the table


def register(app: typer.Typer) -> None:
    app.command()(run)
    app.command()(up)


def run(role: Annotated[RoleName, typer.Argument(help="Which worker.")]) -> None:
    """Run one worker until SIGTERM or SIGINT. Logs are JSON lines on standard error."""
    with clear_errors():
        settings = cluster_settings()
        set_up(settings.log_level, worker=f"{role}-{socket.gethostname()}-{os.getpid()}", secrets=settings.secrets)
        asyncio.run(_run(str(role), settings))


async def _run(role: str, settings: Settings) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    collect_less()
    await run_role(ROLES[role], settings, metrics=Metrics(CollectorRegistry()), stop=stop)
    event("goodbye")


def up() -> None:
    """Run all workers, each in a process of its own; one that stops itself is started again.

    Without ASSAY_KAFKA the embedded broker and cache are started too, and other commands of this user find them.
    """
    with clear_errors():
        settings = settings_of()
        bom = load_bom(read_files(settings.bom))
        check_instrument(bom)  # here, once, rather than from each worker
        roles = _startable(bom)
        ports = health_ports(settings.health_port, roles)
        if settings.kafka is not None:
            asyncio.run(_check_topics(settings))
        with _services(settings) as (environ, lost):
            notes.print(f"workers: {', '.join(roles)}. Stop with Ctrl-C.")
            if ports:
                notes.print(f"health: {', '.join(f'{name} on port {port}' for name, port in ports.items())}")
            commands = {name: worker_command(name) for name in roles}
            grace_s = settings.drain_timeout_s + 10
            own = {name: {"ASSAY_HEALTH_PORT": str(port)} for name, port in ports.items()}
            code = Supervisor(commands, environ, grace_s=grace_s, say=_say, lost=lost, own=own).run()
    raise typer.Exit(code)


async def _check_topics(settings: Settings) -> None:
    """Here, once, rather than from each worker."""
    topics = [Names(settings.topic_prefix).full(topic) for topic in TOPICS]
    await check(connection(settings), topics)
    await check_limits(settings, topics)


def _startable(bom: Bom) -> list[str]:
    """Every worker; but an uncertified canary would refuse to start and take all others down with it."""
    try:
        certificate_of(bom)
    except BomError as error:
        notes.print(f"no canary: {error}", style="yellow", markup=False, highlight=False, soft_wrap=True)
        return [name for name in ROLES if name != "canary"]
    return list(ROLES)


def health_ports(first: int, roles: Sequence[str]) -> dict[str, int]:
    """A port for each worker, counted up from the first; none where each takes any free one."""
    if first == 0:
        return {}
    if first + len(roles) - 1 > LAST_PORT:
        raise SettingsError(
            f"ASSAY_HEALTH_PORT: {first} leaves no port for each of {len(roles)} workers; set a lower one"
        )
    return {name: first + number for number, name in enumerate(roles)}


@contextmanager
def _services(settings: Settings) -> Iterator[tuple[dict[str, str], Callable[[], str | None]]]:
    """The environment for the workers, and why embedded services are lost; these live as long as the block."""
    environ = {**os.environ, "ASSAY_BOM": os.environ.get("ASSAY_BOM") or str(example_bom())}
    if settings.kafka is not None:
        yield environ, lambda: None
        return
    refuse_second(note_file(os.environ))
    with ChildServices() as services:
        for topic in TOPICS:
            services.create_topic(settings.topic_prefix + topic.name, min(topic.partitions, EMBEDDED_PARTITIONS))
        redis = settings.redis.get_secret_value() if settings.redis else services.redis
        notes.print(f"embedded broker at {services.kafka}, in memory only: for trying out.", highlight=False)
        with _announced(Whereabouts(services.kafka, redis, os.getpid())):
            found = {"ASSAY_KAFKA": services.kafka, "ASSAY_REDIS": redis}
            yield {**_patience(environ), **environ, **found}, services.lost


def _patience(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Short time-outs, unless some are given: the embedded broker lets a restarted worker wait for its former self."""
    short = {"ASSAY_SESSION_TIMEOUT_S": "6", "ASSAY_DRAIN_TIMEOUT_S": "3"}
    return {} if environ.keys() & short.keys() else short


@contextmanager
def _announced(where: Whereabouts) -> Iterator[None]:
    """Other commands of this user find the embedded services as long as the block lasts."""
    note = note_file(os.environ)
    try:
        announce(where, note)
    except OSError as error:
        _say(f"{note} cannot be written ({error.strerror}): set ASSAY_KAFKA={where.kafka} for other commands")
        yield
        return
    notes.print("Other `assay` commands of this user find it.")
    try:
        yield
    finally:
        withdraw(where, note)


def _say(what: str) -> None:
    notes.print(what, style="yellow", markup=False, highlight=False)
