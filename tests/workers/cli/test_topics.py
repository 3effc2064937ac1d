"""``assay topics`` as a user meets it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from schemas.topics import TOPICS
from workers.cli import topics
from workers.cli.output import Exit

Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    app = typer.Typer()
    app.callback()(lambda: None)
    topics.register(app)
    monkeypatch.delenv("ASSAY_KAFKA", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *arguments, **env: CliRunner().invoke(app, ["topics", *arguments], env=env)


@pytest.mark.parametrize("arguments", [[], ["list"]])
def test_the_table_names_every_topic(run: Run, arguments: list[str]) -> None:
    shown = run(*arguments)
    assert shown.exit_code == 0
    assert all(topic.name in shown.stdout for topic in TOPICS)


@pytest.mark.parametrize("arguments", [["--json"], ["list", "--json"]])
def test_as_json_every_topic_is_one_object(run: Run, arguments: list[str]) -> None:
    rows = json.loads(run(*arguments, ASSAY_TOPIC_PREFIX="p.").stdout)
    assert [row["full_name"] for row in rows] == [f"p.{topic.name}" for topic in TOPICS]
    assert rows[0]["messages"] == ["Draft"]


def test_documents_are_written_into_a_folder(run: Run, tmp_path: Path) -> None:
    assert run("schema", str(tmp_path / "new")).exit_code == 0
    assert (tmp_path / "new" / "asyncapi.yaml").exists()
    assert json.loads((tmp_path / "new" / "schemas" / "assay.draft.v1.json").read_bytes())["title"] == "Draft"


def test_without_kafka_creating_says_what_to_set(run: Run) -> None:
    refused = run("create")
    assert refused.exit_code == Exit.USAGE
    assert "ASSAY_KAFKA is not set" in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1


@pytest.mark.real
def test_creating_shows_what_it_does_and_does_it_once(run: Run, real_kafka: str, unique: Callable[[str], str]) -> None:
    env = {"ASSAY_KAFKA": real_kafka, "ASSAY_TOPIC_PREFIX": unique("cli") + "."}
    tried = run("create", "--dry-run", **env)
    assert (tried.exit_code, "nothing was changed" in tried.stderr) == (0, True)
    made = json.loads(run("create", "--json", "--replication", "1", **env).stdout)["actions"]
    assert [action["action"] for action in made] == ["create"] * len(TOPICS)
    assert f"all {len(TOPICS)} topics are as the table wants them" in run("create", **env).stdout

    refused = run("create", "--partitions", "24", **env)
    assert refused.exit_code == Exit.FOUND
    assert "it has 12 partitions, 24 are wanted" in refused.stdout


@pytest.mark.real
def test_more_copies_than_brokers_is_one_clear_line(run: Run, real_kafka: str) -> None:
    refused = run("create", "--replication", "9", ASSAY_KAFKA=real_kafka)
    assert (refused.exit_code, refused.stderr) == (
        Exit.USAGE, "assay: 9 copies need 9 brokers; this cluster has 1\n",
    )  # fmt: skip
