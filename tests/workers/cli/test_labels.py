"""``assay labels`` on a broker: out to raters, back in, again, corrected; and how far they are."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from schemas.labels import HumanLabel
from schemas.topics import LABEL_TASKS, LABELS, SAMPLES
from tests.workers.canary.specimens import BOM_FOLDER
from tests.workers.hitl.specimens import AT
from tests.workers.hitl.test_tasks import asked, gold
from workers.cli.main import app
from workers.embedded.services import ChildServices
from workers.hitl.records import messages_of
from workers.hitl.records import publish as publish_all
from workers.runtime.connection import Connection
from workers.runtime.naming import Names

EXPORT = Path(__file__).parents[2] / "data" / "label_studio_export.json"
ONE = asked(7).task


class Scene:
    def __init__(self, kafka: str, prefix: str, folder: Path) -> None:
        self.kafka, self.names, self.folder = Connection((kafka,)), Names(prefix), folder
        self.env = {"ASSAY_KAFKA": kafka, "ASSAY_TOPIC_PREFIX": prefix, "ASSAY_BOM": str(BOM_FOLDER), "COLUMNS": "160"}
        asked_for = [asked(7), asked(8), gold()]
        messages = [part for one in asked_for for part in (one.sampled, one.task)]
        asyncio.run(publish_all(self.kafka, self.names, messages, max_bytes=1_000_000, at=AT))

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(app, ["labels", *arguments], env=self.env)

    def import_rows(self, *rows: dict[str, object]) -> dict[str, object]:
        file = self.folder / "rows.jsonl"
        file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
        return dict(json.loads(self.run("import", str(file), "--json").stdout))

    def on_topic(self) -> list[HumanLabel]:
        async def read() -> list[HumanLabel]:
            found = messages_of(self.kafka, self.names, LABELS)
            return [message async for message in found if isinstance(message, HumanLabel)]

        return asyncio.run(read())


@pytest.fixture
def scene(services: ChildServices, unique: Callable[[str], str], tmp_path: Path) -> Scene:
    prefix = unique("labels") + "."
    for topic in (LABEL_TASKS, LABELS, SAMPLES):
        services.create_topic(prefix + topic.name, 1)
    return Scene(services.kafka, prefix, tmp_path)


def row(rater: str, vote: str = "pass", **more: object) -> dict[str, object]:
    return {
        "task_id": ONE.task_id, "criterion_id": "c1_spec_accuracy", "rater_id": rater, "vote": vote,
        "labelled_at": AT.isoformat(), **more,
    }  # fmt: skip


def test_a_label_studio_export_is_imported_once_however_often_it_comes(scene: Scene):
    first = scene.run("import", str(EXPORT), "--json")
    assert first.exit_code == 0, first.output
    assert json.loads(first.stdout) == {
        "new": 6, "corrected": 0, "unchanged": 0, "other_guidelines": 0, "problems": [],
    }  # fmt: skip
    assert json.loads(scene.run("import", str(EXPORT), "--json").stdout)["unchanged"] == 6
    assert len(scene.on_topic()) == 6


def test_bad_rows_are_named_the_others_imported_and_the_exit_code_is_one(scene: Scene):
    file = scene.folder / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, [row("r-1"), row("r-2", "fail"), row("r-3")])), encoding="utf-8")
    done = scene.run("import", str(file))
    assert done.exit_code == 1, done.output
    assert "2 new" in done.output
    assert "line 2: rationale: a fail needs a rationale" in done.output
    assert {label.rater_id for label in scene.on_topic()} == {"r-1", "r-3"}


def test_a_clause_that_the_guidelines_lack_is_refused_with_the_nearest_ones(scene: Scene):
    fail = {"vote": "fail", "rationale": "the figure is not on the sheet"}
    done = scene.import_rows(row("r-1", **fail, clause="g-1.1"), row("r-2", **fail, clause="G-1.1"))
    ((_, field, what),) = [problem.values() for problem in done["problems"]]  # type: ignore[attr-defined]
    assert field == "clause"
    assert what.startswith("'g-1.1' is no clause of guidelines ")
    assert "; nearest: G-1.1, " in what
    assert [label.rater_id for label in scene.on_topic()] == ["r-2"]


def test_a_guideline_version_that_nobody_has_is_refused(scene: Scene):
    done = scene.import_rows(row("r-1", guideline_version="1999.1"))
    (problem,) = done["problems"]  # type: ignore[misc]
    assert problem["field"] == "guideline_version"
    assert "'1999.1' is no known version (" in problem["what"]
    assert scene.on_topic() == []


def test_a_correction_has_a_higher_version_and_a_rater_says_one_thing_a_file(scene: Scene):
    scene.import_rows(row("r-1"))
    done = scene.import_rows(row("r-1", "fail", rationale="G-1.1"))
    assert (done["new"], done["corrected"]) == (0, 1)
    assert [(label.version, label.edited, str(label.vote)) for label in scene.on_topic()] == [
        (0, False, "pass"),
        (1, True, "fail"),
    ]
    twice = scene.import_rows(row("r-2"), row("r-2", "cannot_tell"))
    assert twice["new"] == 1
    assert "keep one" in str(twice["problems"])


def test_what_is_settled_is_not_exported_any_more(scene: Scene):
    file, config = scene.folder / "tasks.json", scene.folder / "config.xml"
    assert scene.run("export", str(file), "--label-config", str(config)).exit_code == 0
    assert len(json.loads(file.read_bytes())) == 3
    assert config.read_text(encoding="utf-8").startswith("<View>")
    scene.import_rows(*(row(r, criterion_id=c) for c in ONE.criteria for r in ("r-1", "r-2", "r-3")))
    refused = scene.run("export", str(file))
    assert (refused.exit_code, "--force" in refused.output) == (2, True)
    scene.run("export", str(file), "--force")
    assert ONE.task_id not in {task["data"]["task_id"] for task in json.loads(file.read_bytes())}


def test_status_puts_agreement_between_raters_first_then_gold_then_stages(scene: Scene):
    on_gold = {"task_id": gold().task.task_id, "rationale": "G-1.1"}
    scene.import_rows(
        row("r-1"), row("r-2"), row("r-3"), row("r-4", labelled_at="2026-12-30T00:00:00Z"),
        row("r-1", "fail", **on_gold), row("r-2", "pass", **on_gold),
    )  # fmt: skip
    told = json.loads(scene.run("status", "--json").stdout)
    assert list(told)[:3] == ["agreement", "gold_accuracy", "stages"]
    c1 = told["agreement"]["c1_spec_accuracy"]
    assert (c1["items"], c1["raters"], c1["raw"], c1["value"]) == (1, 3, 1.0, None)  # the gold item is left out
    assert "only one value" in c1["value_reason"]
    assert {rater: p["p"] for rater, p in told["gold_accuracy"].items()} == {"r-1": 1.0, "r-2": 0.0}
    assert (told["stages"]["agreed"], told["stages"]["double_annotated"], told["extra_votes"]) == (1, 1, 1)
    shown = scene.run("status")
    assert shown.exit_code == 0, shown.output
    assert "1 extra votes" in shown.output


def test_a_file_that_is_not_there_is_a_usage_error(scene: Scene):
    assert scene.run("import", "nowhere.jsonl").exit_code == 2
