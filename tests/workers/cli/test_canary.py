"""``assay canary``: certify writes the verdicts, run compares with them and says so in its exit code."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.workers.canary.specimens import BOM_FOLDER
from workers.cli.main import app


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example BOM, and nobody's broker."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("workers.cli.context.find", lambda _: None)
    shutil.copytree(BOM_FOLDER, tmp_path / "bom")
    return tmp_path / "bom"


def test_the_certified_judge_is_quiet_and_certifying_again_gives_the_same_verdicts(folder: Path):
    before = json.loads((folder / "certified.json").read_bytes())
    certified = CliRunner().invoke(app, ["canary", "certify", "--bom", str(folder), "--runs", "2"])
    assert certified.exit_code == 0, certified.output
    after = json.loads((folder / "certified.json").read_bytes())
    assert [(v["item_id"], v["label"]) for v in after["verdicts"]] == [
        (v["item_id"], v["label"]) for v in before["verdicts"]
    ]
    ran = CliRunner().invoke(app, ["canary", "run", "--bom", str(folder), "--json"])
    assert ran.exit_code == 0, ran.output
    told = json.loads(ran.stdout)
    assert (told["finding"]["flips"], told["finding"]["alarm"], told["published"]) == (0, False, False)
    assert told["human_labels"] == {"agreed": 117, "of": 120}


def test_a_flip_ends_with_one_and_names_the_item(folder: Path):
    certified = json.loads((folder / "certified.json").read_bytes())
    one = next(v for v in certified["verdicts"] if v["item_id"] == "sku-70001")
    one["label"] = "fail"
    (folder / "certified.json").write_text(json.dumps(certified), encoding="utf-8")
    ran = CliRunner().invoke(app, ["canary", "run", "--bom", str(folder)])
    assert ran.exit_code == 1, ran.output
    assert "sku-70001" in ran.output
    assert "ALARM" in ran.output


def test_a_set_certified_for_another_version_ends_with_four(folder: Path):
    certified = json.loads((folder / "certified.json").read_bytes())
    certified["bom_version"] = "bom-ffffffffffffffff"
    (folder / "certified.json").write_text(json.dumps(certified), encoding="utf-8")
    assert CliRunner().invoke(app, ["canary", "run", "--bom", str(folder)]).exit_code == 4
