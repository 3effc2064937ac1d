"""``assay tail`` on a running cluster."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import pytest
import typer
from typer.testing import CliRunner, Result

from workers.cli import tail
from workers.cli.output import Exit
from workers.embedded.services import ChildServices
from workers.runtime.connection import Connection
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.records import OutRecord

Run = Callable[..., Result]


async def _produce(kafka: str, outs: list[OutRecord]) -> None:
    producer = ConfirmedProducer(Connection((kafka,)), max_message_bytes=10_000)
    await producer.start()
    await producer.produce(outs)
    await producer.stop()


@pytest.fixture
def run(services: ChildServices, unique: Callable[[str], str]) -> Run:
    prefix = unique("tail") + "."
    services.create_topic(f"{prefix}drafts", 2)
    outs = [OutRecord(f"{prefix}drafts", f"sku-{i}".encode(), b'{"text": "\\u202e"}') for i in range(4)]
    asyncio.run(_produce(services.kafka, outs))
    app = typer.Typer()
    app.callback()(lambda: None)
    tail.register(app)
    env = {"ASSAY_KAFKA": services.kafka, "ASSAY_TOPIC_PREFIX": prefix}
    return lambda *arguments: CliRunner().invoke(app, ["tail", *arguments], env=env)


def test_what_is_there_is_shown_and_the_command_ends(run: Run) -> None:
    shown = run("drafts", "--to-end")
    assert shown.exit_code == 0
    assert all(f"sku-{i}" in shown.stdout for i in range(4))
    assert "text: \\u202e" in shown.stdout


def test_one_item_as_json_lines(run: Run) -> None:
    found = [json.loads(line) for line in run("drafts", "--to-end", "--json", "--item", "sku-2").stdout.splitlines()]
    assert [(row["key"], row["value"]) for row in found] == [("sku-2", {"text": "\u202e"})]


def test_following_from_the_beginning_stops_after_so_many(run: Run) -> None:
    shown = run("drafts", "--from-beginning", "--max", "3", "--json")
    assert len(shown.stdout.splitlines()) == 3
    assert "Ctrl-C ends" in shown.stderr


@pytest.mark.parametrize(
    ("topic", "code", "line"),
    [
        ("zzz", Exit.USAGE, "no topic 'zzz'; `assay topics` lists them"),
        ("draft", Exit.USAGE, "no topic 'draft'; did you mean drafts?"),
        ("verdicts", Exit.UNAVAILABLE, "does not exist; `assay topics create` makes it"),
    ],
)
def test_a_wrong_topic_is_one_clear_line(run: Run, topic: str, code: Exit, line: str) -> None:
    refused = run(topic, "--to-end")
    assert refused.exit_code == code
    assert line in refused.stderr
