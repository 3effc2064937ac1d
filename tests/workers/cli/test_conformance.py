from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.data import ROOT
from tests.workers.conformance.test_preparing import ANCHOR
from workers.bom.example import example_bom
from workers.cli.main import app

PROSE = str(ROOT / "README.md")
QUICK = ["--runs", "10", "--only", "coverage", "--only", "determinism", "--only", "idempotence"]


def invoke(*arguments: str, code: int) -> str:
    result = CliRunner().invoke(app, ["conformance", *arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result.stdout


@pytest.fixture
def anchored(tmp_path: Path) -> Path:
    folder = tmp_path / "bom"
    shutil.copytree(example_bom(), folder)
    (folder / "anchor.yaml").write_text(ANCHOR)
    assert CliRunner().invoke(app, ["bom", "seal", str(folder)]).exit_code == 0
    return folder


def test_the_example_lacks_what_only_people_and_a_deployment_can_give() -> None:
    only = ["--only", "anchor", "--only", "envelope", "--only", "accuracy"]
    document = json.loads(invoke(*only, "--json", code=1))
    assert document["verdict"] == "FAIL"
    assert document["conditions"] == {"anchor": "FAIL", "envelope": "FAIL"}
    assert {row["name"] for row in document["checks"] if row["result"] == "FAIL"} == {"anchor", "envelope"}
    assert {row["name"] for row in document["checks"] if row["result"] == "UNAVAILABLE"} == {"accuracy"}


def test_with_anchor_envelope_and_gold_it_conforms(anchored: Path, tmp_path: Path) -> None:
    envelope = tmp_path / "envelope.json"
    envelope.write_text('{"type": "object", "required": ["outcome"]}')
    gold = tmp_path / "gold.jsonl"
    lines = (ROOT / "examples/drafts.jsonl").read_text().splitlines()[:4]
    gold.write_text("\n".join(json.dumps({**json.loads(line), "gold": "pass"}) for line in lines))
    xml = tmp_path / "junit.xml"
    arguments = [
        "--bom",
        str(anchored),
        "--envelope",
        str(envelope),
        "--gold",
        str(gold),
        "--junit",
        str(xml),
        "--at-once",
        "100",
    ]
    document = json.loads(invoke(*arguments, "--json", code=0))
    assert document["verdict"] == "PASS"
    accuracy = next(row for row in document["checks"] if row["name"] == "accuracy")
    assert accuracy["evidence"]["m"] == 3 * len(lines)
    assert {row["name"] for row in document["measurements"]} == {"self_preference"}
    assert ET.parse(xml).getroot().get("failures") == "0"


def test_a_table_ends_with_the_verdict() -> None:
    printed = invoke(*QUICK, code=0)
    assert "determinism" in printed
    assert printed.splitlines()[-1] == "PASS: all the checks hold"


@pytest.mark.parametrize(
    "arguments",
    [["--only", "determinsm"], ["--gold", "nowhere.jsonl"], ["--drafts", PROSE], ["--injections", PROSE],
     ["--pairs", PROSE], ["--scores", PROSE], ["--runs", "1"]],
)  # fmt: skip
def test_what_cannot_be_read_is_a_usage_error(arguments: list[str]) -> None:
    invoke(*arguments, code=2)


def test_recorded_comparisons_and_scores_are_measured(tmp_path: Path) -> None:
    pairs, scores = tmp_path / "pairs.jsonl", tmp_path / "scores.jsonl"
    pairs.write_text('{"judges": [{"model": "m", "AB": "A", "BA": "B"}]}\n')
    scores.write_text("".join(json.dumps({"score": n, "chars": 10**n}) + "\n" for n in range(1, 5)))
    printed = invoke(*QUICK, "--pairs", str(pairs), "--scores", str(scores), "--json", code=0)
    position, length = json.loads(printed)["measurements"]
    assert (position["of"], position["value"]["reversal_rate"]) == ("m", 1.0)
    assert length["value"]["slope"] == pytest.approx(0.4343, abs=1e-4)  # 1 / ln 10


def test_a_cap_that_is_too_small_is_said_and_not_taken_for_the_judge(tmp_path: Path) -> None:
    folder = tmp_path / "bom"
    shutil.copytree(example_bom(), folder)
    with (folder / "decision.yaml").open("a") as decision:
        decision.write("\ncost_caps: {max_calls: 3}\n")
    assert CliRunner().invoke(app, ["bom", "seal", str(folder)]).exit_code == 0
    only = ["--only", "coverage", "--bom", str(folder)]
    assert "questions were not asked, since a cap in decision.yaml (cost_caps) is reached" in invoke(*only, code=0)
    assert json.loads(invoke(*only, "--json", code=0))["over_budget"] > 0
    assert json.loads(invoke("--only", "coverage", "--json", code=0))["over_budget"] == 0
