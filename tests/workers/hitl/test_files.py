"""Label files of every kind give the same rows; every broken row is a problem with its place."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.errors import SettingsError
from schemas.labels import HumanLabel, HumanVote, LabelTask
from tests.workers.hitl.test_tasks import asked
from workers.hitl.files import FileFormat, criteria_of, read_rows, write_tasks
from workers.hitl.label_studio import labelling_config
from workers.hitl.rows import Problem, Row, to_label

DATA = Path(__file__).parents[2] / "data"
NOW = datetime(2026, 12, 7, 12, tzinfo=UTC)
TASKS = {task.task_id: task for task in (asked(7).task, asked(8).task)}
ONE = asked(7).task
EDITIONS = {ONE.guideline_version: ("G-1.1", "G-1.2", "G-2.1"), "2025.4": ("G-1.1", "G-7.7")}
VOTE = {"task_id": ONE.task_id, "criterion_id": "c1_spec_accuracy", "rater_id": "r-1", "vote": "pass"}


def labels(raw: bytes, kind: FileFormat) -> list[HumanLabel | Problem]:
    rows = read_rows(raw, kind)
    return [row if isinstance(row, Problem) else to_label(row, TASKS, EDITIONS, now=NOW) for row in rows]


def test_the_labelling_interface_is_the_one_that_label_studio_validated():
    assert labelling_config(criteria_of([ONE])) == (DATA / "label_studio_config.xml").read_text(encoding="utf-8")


def test_a_label_studio_export_gives_its_votes_and_leaves_skipped_annotations_out():
    found = labels((DATA / "label_studio_export.json").read_bytes(), FileFormat.LABEL_STUDIO)
    assert not [one for one in found if isinstance(one, Problem)]
    told = [(one.task_id, one.criterion_id, one.rater_id, one.vote) for one in found if isinstance(one, HumanLabel)]
    each = [
        ("c1_spec_accuracy", "label-studio-3", "fail"),
        ("c2_no_prohibited_claims", "label-studio-3", "pass"),
        ("c1_spec_accuracy", "label-studio-5", "cannot_tell"),
    ]
    assert told == [(task, *rest) for task in TASKS for rest in each]
    first = found[0]
    assert isinstance(first, HumanLabel)
    assert (first.rationale, first.failure_mode) == ("G-1.1: the sheet says 40 cm.", "wrong_number")
    assert first.labelled_at == datetime(2026, 12, 7, 9, 15, 0, 123456, tzinfo=UTC)
    assert "example.org" not in repr(found)  # an e-mail address is nobody's business


def test_the_clause_of_a_fail_comes_back_from_every_kind_of_file():
    raw = (DATA / "label_studio_export.json").read_bytes().replace(b"__failure_mode", b"__clause")
    first = labels(raw.replace(b"wrong_number", b"G-1.1"), FileFormat.LABEL_STUDIO)[0]
    assert isinstance(first, HumanLabel)
    assert (first.clause, first.failure_mode) == ("G-1.1", None)
    row = json.dumps({**VOTE, "clause": " G-1.1 "}).encode()
    assert [one.clause for one in labels(row, FileFormat.JSONL) if isinstance(one, HumanLabel)] == ["G-1.1"]


def test_open_tasks_are_written_as_label_studio_imported_them():
    written = json.loads(write_tasks(list(TASKS.values()), FileFormat.LABEL_STUDIO))
    export = json.loads((DATA / "label_studio_export.json").read_bytes())
    assert [task["data"] for task in written] == [task["data"] for task in export]


def test_a_csv_that_was_exported_and_filled_in_comes_back():
    rows = list(csv.DictReader(io.StringIO(write_tasks([ONE], FileFormat.CSV))))
    assert [row["criterion_id"] for row in rows] == list(ONE.criteria)
    for row in rows:
        row |= {"rater_id": "r-1", "vote": "fail", "rationale": "G-1.1, see line 2"}
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    found = labels(("\ufeff" + out.getvalue()).encode(), FileFormat.CSV)
    assert [(one.vote, one.criterion_id) for one in found if isinstance(one, HumanLabel)] == [
        (HumanVote.FAIL, criterion) for criterion in ONE.criteria
    ]


def test_a_draft_that_begins_like_a_formula_is_no_formula_in_a_spreadsheet():
    hostile = ONE.model_copy(update={"text": "=HYPERLINK(1)"})
    assert next(csv.DictReader(io.StringIO(write_tasks([hostile], FileFormat.CSV))))["text"] == "'=HYPERLINK(1)"


def test_jsonl_tasks_are_the_messages_themselves():
    line = write_tasks([ONE], FileFormat.JSONL)
    assert LabelTask.model_validate_json(line) == ONE


@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        ({"vote": "maybe"}, "vote", "'pass', 'fail' or 'cannot_tell'"),
        ({"vote": "fail"}, "rationale", "a fail needs a rationale"),
        ({"vote": ""}, "vote", "missing"),
        ({"task_id": "nobody"}, "task_id", "export the open tasks again"),
        ({"criterion_id": "c9"}, "criterion_id", "it asks c1_spec_accuracy"),
        ({"rater_id": None}, "rater_id", "missing"),
        ({"labelled_at": "yesterday"}, "labelled_at", "datetime"),
        ({"comment": "hm"}, "comment", "unknown; a row has task_id"),
    ],
)
def test_a_bad_row_names_line_field_and_remedy(change: dict[str, object], field: str, said: str):
    raw = json.dumps(VOTE).encode() + b"\n\n" + json.dumps({**VOTE, **change}).encode()
    good, bad = labels(raw, FileFormat.JSONL)
    assert isinstance(good, HumanLabel)
    assert isinstance(bad, Problem)
    assert (bad.where, bad.field) == ("line 3", field)
    assert said in bad.what


@pytest.mark.parametrize(
    ("document", "where", "field"),
    [
        ({}, "the file", "the document"),
        ([1], "task 1", "annotations"),
        ([{"data": {}}], "task 1", "annotations"),
        ([{"data": {}, "annotations": [{}]}], "task 1, annotation 1", "result"),
        ([{"data": {}, "annotations": [{"result": []}]}], "task 1, annotation 1", "completed_by"),
        ([{"data": {}, "annotations": [{"result": [{"from_name": "box"}], "completed_by": 1}]}],
         "task 1, annotation 1", "result"),
    ],
)  # fmt: skip
def test_what_is_no_export_of_ours_is_named(document: object, where: str, field: str):
    (problem,) = labels(json.dumps(document).encode(), FileFormat.LABEL_STUDIO)
    assert isinstance(problem, Problem)
    assert (problem.where, problem.field) == (where, field)


@given(st.binary(max_size=300), st.sampled_from(FileFormat))
@settings(derandomize=True, max_examples=300, deadline=None)
def test_any_bytes_give_rows_and_problems(raw: bytes, kind: FileFormat):
    assert all(isinstance(one, HumanLabel | Problem) for one in labels(raw, kind))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["data", "annotations", "result", "completed_by", "from_name", "value", "choices", "id"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=20,
    )
)
@settings(derandomize=True, max_examples=300, deadline=None)
def test_any_json_is_read_totally(document: object):
    for kind in (FileFormat.LABEL_STUDIO, FileFormat.JSONL):
        assert all(isinstance(one, HumanLabel | Problem) for one in labels(json.dumps([document]).encode(), kind))
        assert all(isinstance(one, HumanLabel | Problem) for one in labels(json.dumps(document).encode(), kind))


def test_the_ending_decides_the_format():
    assert [FileFormat.of(name) for name in ("a.csv", "a.JSON", "a.jsonl")] == [
        FileFormat.CSV, FileFormat.LABEL_STUDIO, FileFormat.JSONL,
    ]  # fmt: skip
    for name in ("a", "a.xyz"):
        with pytest.raises(SettingsError, match=f"{name}: the ending says no format"):
            FileFormat.of(name)


def test_a_row_without_a_guideline_version_has_its_tasks():
    label = to_label(Row("line 1", VOTE), TASKS, EDITIONS, now=NOW)
    assert isinstance(label, HumanLabel)
    assert (label.guideline_version, label.labelled_at, label.version) == (ONE.guideline_version, NOW, 0)


def test_a_clause_that_the_guidelines_lack_is_refused_from_every_kind_of_file():
    export = (DATA / "label_studio_export.json").read_bytes().replace(b"__failure_mode", b"__clause")
    row = {**VOTE, "vote": "fail", "rationale": "the sheet says 40 cm", "clause": "g-1.1"}
    table = ",".join(row) + "\n" + ",".join(row.values())
    for raw, kind, where, value in (
        (export, FileFormat.LABEL_STUDIO, "task 1, annotation 1, c1_spec_accuracy", "wrong_number"),
        (json.dumps(row).encode(), FileFormat.JSONL, "line 1", "g-1.1"),
        (table.encode(), FileFormat.CSV, "line 2", "g-1.1"),
    ):
        first = labels(raw, kind)[0]
        assert isinstance(first, Problem)
        assert (first.where, first.field) == (where, "clause")
        assert first.what.startswith(f"'{value}' is no clause of guidelines {ONE.guideline_version}; nearest: G-1.1, ")


def test_a_label_is_held_against_the_guidelines_it_was_given_under():
    """G-7.7 was dropped since 2025.4: who labelled under that version may name it, who labelled under today's not."""
    fail = {**VOTE, "vote": "fail", "rationale": "too long", "clause": "G-7.7"}
    then = to_label(Row("line 1", {**fail, "guideline_version": "2025.4"}), TASKS, EDITIONS, now=NOW)
    assert isinstance(then, HumanLabel)
    assert (then.clause, then.guideline_version) == ("G-7.7", "2025.4")
    today = to_label(Row("line 1", fail), TASKS, EDITIONS, now=NOW)
    assert isinstance(today, Problem)
    assert today.field == "clause"


def test_guidelines_that_nobody_has_are_refused_whatever_was_voted():
    for more in ({}, {"vote": "fail", "rationale": "r", "clause": "G-1.1"}):
        refused = to_label(Row("line 1", {**VOTE, **more, "guideline_version": "1" * 500}), TASKS, EDITIONS, now=NOW)
        assert isinstance(refused, Problem)
        assert refused.field == "guideline_version"
        assert f"{'1' * 64}' is no known version (2025.4, {ONE.guideline_version})" in refused.what
        assert "--bom" in refused.what
        assert len(refused.what) < 250
