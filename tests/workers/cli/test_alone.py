"""Commands that need no cluster: demo, replay, bom, settings, judge try, help."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.workers.cli.shell import assay, environ
from workers.bom.example import example_bom
from workers.cli.main import app


@pytest.fixture
def env(tmp_path: Path) -> Mapping[str, str]:
    return environ(tmp_path)


def test_the_demo_ends_with_each_kind_of_end_and_fits_80_columns(env: Mapping[str, str]) -> None:
    done = assay("demo", env=env)
    assert done.code == 0
    counts = [cells[1:3] for line in done.said.splitlines() if len(cells := line.split("│")) == 4 and cells[0] == ""]
    assert {name.strip(): int(number) for name, number in counts if number.strip().isdigit()} == {
        "served on first pass": 28,
        "served after revision": 22,
        "dropped to fallback": 9,
        "undecided, not served": 5,
        "dead-lettered records": 6,
    }
    assert "64 of 64 items decided" in done.said
    assert "59 drafts got 99 verdicts from the cache" in " ".join(done.said.split())
    assert max(map(len, done.said.splitlines())) <= 80


RECORDING = [
    {"item_id": "one", "draft": "a", "raters": [{"label": "fail"}], "judges": [{"model": "j", "label": "pass"}]},
    {"item_id": "two", "draft": "b", "raters": [], "judges": [{"model": "j", "label": "fail"}]},
]


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    file = tmp_path / "recording.jsonl"
    file.write_text("\n".join(map(json.dumps, RECORDING)))
    return file


def test_a_replay_says_each_stratum_in_one_row_of_80_columns(env: Mapping[str, str], recording: Path) -> None:
    done = assay("replay", recording, "--judge", "j", env=env)
    assert (done.code, done.noted) == (0, "generators: not named\n")
    table = {line.split("│")[1].strip(): line.split("│")[2:-1] for line in done.said.splitlines() if line[0] == "│"}
    assert [cell.strip() for cell in table["served on first pass"]] == ["1", "1 of 1", "100.0%", "20.7% to 100.0%"]
    assert [cell.strip() for cell in table["served at attempt 3"]] == ["0", "-", "-", "-"]
    assert table["of them out of drafts"][0].strip() == "1"
    assert done.said.count("no rate") == 1
    assert max(map(len, done.said.splitlines())) <= 80


def test_a_replay_as_json_is_one_document(env: Mapping[str, str], recording: Path) -> None:
    done = assay("replay", recording, "--judge", "j", "--retry-budget", "0", "--json", env=env)
    assert json.loads(done.said) == {
        "items": 2,
        "drafts_judged": 2,
        "served_by_attempt": [1],
        "dropped": 1,
        "undecided": 0,
        "exhausted": 0,
        "human_fail_by_attempt": [1],
        "human_undecided_by_attempt": [0],
    }


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--judge", "k"], "--judge: no verdict is by 'k'; the recording has: j"),
        (["--judge", "j", "--order", "g1"], "--order: no draft is by 'g1'; the recording has: none"),
        (["--judge", "j", "--sources", "/none"], "/none cannot be read: No such file or directory"),
    ],
)
def test_a_wrong_name_in_a_replay(env: Mapping[str, str], recording: Path, arguments: list[str], line: str) -> None:
    done = assay("replay", recording, *arguments, env=env)
    assert (done.code, done.one_line) == (2, line)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", "r.jsonl holds no rows; one JSON object a line is needed"),
        (b"{", "r.jsonl, line 1: row: Invalid JSON"),
        (b"\xff", "is no text: byte 0 is not UTF-8"),
        (b'{"item_id": ""}', "r.jsonl, line 1: item_id: String should have at least 1 character"),
        (b'{"item_id": "x", "judges": [{"model": "j"}]}', "the draft of 'x' is not in the file"),
    ],
)
def test_a_file_that_is_no_recording(env: Mapping[str, str], tmp_path: Path, content: bytes, line: str) -> None:
    (tmp_path / "r.jsonl").write_bytes(content)
    done = assay("replay", tmp_path / "r.jsonl", "--judge", "j", env=env)
    assert (done.code, line in done.one_line) == (2, True), done.noted


def test_a_bom_is_changed_sealed_and_verified(env: Mapping[str, str], tmp_path: Path) -> None:
    bom = tmp_path / "mine"
    shutil.copytree(example_bom(), bom)
    old = json.loads(assay("bom", "verify", bom, "--json", env=env).said)
    with (bom / "template.md").open("a") as template:
        template.write("\n")
    assert assay("bom", "verify", bom, env=env).code == 4
    sealed = json.loads(assay("bom", "seal", bom, "--json", env=env).said)
    assert sealed["version"] != old["version"]
    assert assay("bom", "verify", bom, env=env).said.startswith(f"{sealed['version']} verifies (")
    again = json.loads(assay("bom", "seal", bom, "--json", env=env).said)
    assert again == sealed


def test_a_bom_is_shown_whole_in_80_columns(env: Mapping[str, str]) -> None:
    shown = assay("bom", "show", env=env).said
    for name in ("c1_spec_accuracy", "c2_no_prohibited_claims", "banned_phrases x3", "scripted-judge@2026-11-01"):
        assert name in shown
    assert json.loads(assay("bom", "show", "--json", env=env).said)["charter"]["retry_budget"] == 3


def test_settings_mask_secrets(tmp_path: Path) -> None:
    env = environ(
        tmp_path,
        redis="redis://:hunter2@cache:6379/0",
        model_api_key="sk-hunter2",
        model_base_url="http://me:hunter2@h/v1",
    )
    for arguments in ([], ["--json"], ["--markdown"]):
        done = assay("settings", *arguments, env=env)
        assert done.code == 0
        assert "hunter2" not in done.said + done.noted


GOOD = {
    "item_id": "m",
    "text": "The Hedda Mug holds 350 ml of tea or coffee in thick walls of stoneware, safe in the dishwasher.",
    "context": {"instruction": "Describe.", "items": [{"role": "target", "metadata": {"name": "Hedda Mug"}}]},
}


def test_judge_try_shows_prompt_reply_and_verdict(env: Mapping[str, str], tmp_path: Path) -> None:
    (tmp_path / "draft.json").write_text(json.dumps({**GOOD, "text": "An unbeatable mug \u001b[m\u202e."}))
    done = assay("judge", "try", tmp_path / "draft.json", env=env)
    assert done.code == 1  # judged, and not served
    for part in ("c1_spec_accuracy: system", "c1_spec_accuracy: reply", "c2_no_prohibited_claims: fail", "revise"):
        assert part in done.said
    assert "\u202e" not in done.said
    answer = json.loads(assay("judge", "try", tmp_path / "draft.json", "--json", env=env).said)
    assert (answer["outcome"], len(answer["verdicts"]), len(answer["asked"])) == ("revise", 3, 1)


def test_judge_try_shows_a_long_prompt_bounded_unless_it_is_asked_for(env: Mapping[str, str], tmp_path: Path) -> None:
    text = "\n".join(f"line {number} " + "x" * 50 for number in range(100))
    (tmp_path / "draft.json").write_text(json.dumps({**GOOD, "text": text}))
    done = assay("judge", "try", tmp_path / "draft.json", env=env)
    assert "more lines; --prompt shows all" in done.said
    assert "line 99 xxx" in done.said
    assert ("line 50 xxx" in done.said, len(done.said) < 10_000) == (False, True)
    assert "line 50 xxx" in assay("judge", "try", tmp_path / "draft.json", "--prompt", env=env).said
    answer = json.loads(assay("judge", "try", tmp_path / "draft.json", "--json", env=env).said)
    assert text in answer["asked"][0]["user"]


def _commands(group: object, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = [path]
    for name, command in getattr(group, "commands", {}).items():
        found += _commands(command, (*path, name))
    return found


def test_every_command_explains_itself() -> None:
    from typer.main import get_command

    paths = _commands(get_command(app))
    assert len(paths) > 25
    for path in paths:
        shown = CliRunner().invoke(app, [*path, "--help"])
        assert shown.exit_code == 0, path
        assert "Usage:" in shown.stdout


def test_completion_can_be_shown(env: Mapping[str, str]) -> None:
    done = CliRunner().invoke(app, ["--show-completion", "bash"], prog_name="assay", env=dict(env))
    assert (done.exit_code, "_assay_completion" in done.stdout) == (0, True)
