"""``assay dlq`` as on-call meets it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
import typer
from typer.testing import CliRunner, Result

from workers.cli import dlq
from workers.cli.output import Exit
from workers.embedded.services import ChildServices
from workers.runtime.connection import Connection
from workers.runtime.dead_letters import DeadLetterBox
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.records import InRecord

Run = Callable[..., Result]
AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


async def _set_aside(kafka: str, prefix: str) -> None:
    producer = ConfirmedProducer(Connection((kafka,)), max_message_bytes=10_000)
    await producer.start()
    box = DeadLetterBox(topic=f"{prefix}dead-letters", limit_bytes=10_000, group="assay.judge", worker="judge")
    for i, kind in enumerate(("not_json", "not_json", "bad_schema")):
        record = InRecord(
            f"{prefix}drafts", 0, i, f"sku-{i}".encode(), b"[red]\x1b[2J\xff", (("h\x1b", b"\xe2\x80\xae"),)
        )
        await producer.produce([box.letter(record, kind=kind, error="[b]why\u202e", at=AT)])
    await producer.stop()


@pytest.fixture
def run(services: ChildServices, unique: Callable[[str], str]) -> Run:
    prefix = unique("dlq") + "."
    services.create_topic(f"{prefix}dead-letters", 1)
    services.create_topic(f"{prefix}drafts", 2)
    asyncio.run(_set_aside(services.kafka, prefix))
    app = typer.Typer()
    app.callback()(lambda: None)
    dlq.register(app)
    env = {"ASSAY_KAFKA": services.kafka, "ASSAY_TOPIC_PREFIX": prefix, "COLUMNS": "160"}
    return lambda *arguments: CliRunner().invoke(app, ["dlq", *arguments], env=env)


def test_letters_are_counted_by_kind_and_topic(run: Run) -> None:
    rows = json.loads(run("list", "--json").stdout)
    assert [(row["kind"], row["letters"], row["replayed"]) for row in rows] == [
        ("not_json", 2, 0),
        ("bad_schema", 1, 0),
    ]
    assert "not_json" in run("list").stdout


def test_each_letter_has_its_place_and_hostile_text_is_shown_as_text(run: Run) -> None:
    shown = run("list", "--each", "--kind", "bad_schema")
    assert "0@2" in shown.stdout
    assert "[b]why\\u202e" in shown.stdout


def test_one_letter_is_shown_with_its_headers_and_bytes(run: Run) -> None:
    shown = run("show", "0@1")
    assert shown.exit_code == 0
    assert "value        [red]\\x1b[2J\\xff" in shown.stdout
    assert "header       h\\x1b: \\u202e" in shown.stdout
    assert all(line.isprintable() for line in shown.stdout.splitlines())
    assert json.loads(run("show", "0@1", "--json").stdout)["error_kind"] == "not_json"


def test_letters_go_back_once_and_the_list_knows(run: Run) -> None:
    tried = json.loads(run("replay", "--kind", "not_json", "--dry-run", "--json").stdout)
    assert (tried["dry_run"], tried["replayed"]) == (True, 2)
    went = run("replay", "--kind", "not_json", "--reason", "mended", "--operator", "ada")
    assert (went.exit_code, went.stdout) == (0, "2 went back, 0 refused\n")

    again = run("replay", "--all")
    assert again.exit_code == Exit.FOUND
    assert "by ada; --again sends it once more" in again.stdout
    assert "1 went back, 2 refused" in again.stdout
    assert [row["replayed"] for row in json.loads(run("list", "--json").stdout)] == [2, 1]
    assert run("replay", "0@0", "--again").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["replay"], "say which: places, --kind, --topic, --item, --since, or --all"),
        (["replay", "5@5"], "no such dead letter: 5@5"),
        (["replay", "five"], "'five' is no place of a dead letter"),
        (["show", "0@77"], "nothing has been written there"),
        (["list", "--topic", "draft"], "did you mean drafts?"),
    ],
)
def test_a_mistake_is_one_clear_line(run: Run, arguments: list[str], line: str) -> None:
    refused = run(*arguments)
    assert refused.exit_code == Exit.USAGE
    assert line in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1
