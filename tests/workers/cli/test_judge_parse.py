from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from tests.data import data_file, data_rows
from workers.cli.judge_parse import register

PASS = '{"label": "pass", "reason": "ok"}'


@pytest.fixture
def app() -> typer.Typer:
    judge = typer.Typer()
    register(judge)
    judge.callback()(lambda: None)
    return judge


def parsed(app: typer.Typer, *args: str, stdin: bytes | str | None = None) -> list[dict[str, Any]]:
    result = CliRunner().invoke(app, ["parse", "--json", *args], input=stdin)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_one_object_a_line_with_label_cause_and_reason(app: typer.Typer, tmp_path: Path) -> None:
    lines = [
        {"id": "a", "raw": PASS},
        {"id": "b", "raw": None},
        {"id": "c"},
        {"id": "d", "raw": PASS, "finish_reason": "length"},
        {"id": "e", "raw": 7},
        {"id": "\ud800", "raw": "**fail**"},
    ]
    file = tmp_path / "replies.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines) + "\nno json\n")
    found = parsed(app, str(file))
    assert [(one["id"], one["label"], one["cause"]) for one in found] == [
        ("a", "pass", None),
        ("b", "abstain", "unparseable"),
        ("c", "abstain", "unparseable"),
        ("d", "abstain", "truncated"),
        ("e", "abstain", "unparseable"),
        ("\ufffd", "abstain", "unparseable"),
        ("7", "abstain", "unparseable"),
    ]
    assert found[0]["reason"] == "ok"


@pytest.mark.parametrize(
    ("stdin", "labels"),
    [
        (PASS, ["pass"]),
        (f"I have looked.\n```json\n{PASS}\n```\n", ["pass"]),
        ('{\n  "label": "pass",\n  "reason": "ok"\n}', ["pass"]),
        (PASS + "\n" + PASS, ["abstain"]),
        (json.dumps({"raw": PASS}) + "\n" + json.dumps({"raw": ""}), ["pass", "abstain"]),
        ("", ["abstain"]),
        (b"\xff\xfe\x00", ["abstain"]),
        ("[" * 100_000, ["abstain"]),
        ('{"raw": ' * 50_000, ["abstain"]),
    ],
)
def test_standard_input_is_rows_or_one_reply(app: typer.Typer, stdin: bytes | str, labels: list[str]) -> None:
    assert [one["label"] for one in parsed(app, stdin=stdin)] == labels


def test_a_table_steers_no_terminal(app: typer.Typer) -> None:
    reply = json.dumps({"label": "pass", "reason": "\x1b[31mred\u202e [bold]x[/bold]"})
    result = CliRunner().invoke(app, ["parse"], input=reply)
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout
    assert "\u202e" not in result.stdout
    assert "[bold]" in result.stdout


def test_an_unknown_contract_and_a_missing_file_are_one_clear_line(app: typer.Typer) -> None:
    for args in (["--contract", "verdikt"], ["/nowhere/at/all"]):
        result = CliRunner().invoke(app, ["parse", *args], input="x")
        assert result.exit_code == 2
        assert result.stderr.startswith("assay: ")
        assert "Traceback" not in result.output


def test_every_recorded_reply_is_a_row_and_none_is_ours(app: typer.Typer) -> None:
    found = parsed(app, str(data_file("raw_judge_outputs.jsonl")))
    assert len(found) == len(data_rows("raw_judge_outputs.jsonl"))
    assert {one["label"] for one in found} == {"abstain"}
    assert all(one["cause"] for one in found)
