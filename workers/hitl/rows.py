"""One row of somebody's file into one label, or into a problem that names line, field and remedy. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from pydantic import ValidationError

from schemas.labels import HumanLabel, LabelStage, LabelTask
from workers.hitl.editions import Editions, misfit

COLUMNS = (
    "task_id", "criterion_id", "rater_id", "vote", "rationale", "failure_mode", "clause", "stage", "guideline_version",
    "edited", "retracted", "labelled_at",
)  # fmt: skip
"""What a row may have; the first four it must. ``vote`` is pass, fail or cannot_tell; ``stage`` vote or adjudicated."""

_NEEDED = COLUMNS[:4]


class Row(NamedTuple):
    """``where`` tells a person where to look: ``line 3``, ``task 7, annotation 12``."""

    where: str
    fields: Mapping[str, Any]


class Problem(NamedTuple):
    where: str
    field: str
    what: str


def to_label(row: Row, tasks: Mapping[str, LabelTask], editions: Editions, *, now: datetime) -> HumanLabel | Problem:
    """A label of version 0 (``merging`` gives it its own), of the task's guideline version unless the row names one.

    Its clause must be one of that version's: ``editions`` has them all.
    """
    given = {name: value for name, value in row.fields.items() if value not in (None, "")}
    if unknown := sorted(given.keys() - set(COLUMNS)):
        return Problem(row.where, unknown[0][:40], f"unknown; a row has {', '.join(COLUMNS)}")
    for name in _NEEDED:
        if name not in given:
            return Problem(row.where, name, "missing; every row needs " + ", ".join(_NEEDED))
    task = tasks.get(str(given["task_id"]))
    if task is None:
        return Problem(row.where, "task_id", "no such task on label-tasks; export the open tasks again")
    if given["criterion_id"] not in task.criteria:
        return Problem(row.where, "criterion_id", f"not asked by this task; it asks {', '.join(task.criteria)}")
    label = _validated(row, {"guideline_version": task.guideline_version, "labelled_at": now, **given}, task)
    if isinstance(label, Problem) or (found := misfit(label, editions)) is None:
        return label
    return Problem(row.where, found.field, found.what)


def _validated(row: Row, given: Mapping[str, Any], task: LabelTask) -> HumanLabel | Problem:
    try:
        return HumanLabel.model_validate({**given, "item_id": task.item_id})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "rationale"
        return Problem(row.where, field, first["msg"].removeprefix("Value error, "))


class Key(NamedTuple):
    """Whose word on what: a rater votes once on a criterion of a task, and adjudicates once."""

    task_id: str
    criterion_id: str
    rater_id: str
    stage: LabelStage

    @classmethod
    def of(cls, label: HumanLabel) -> Key:
        return cls(label.task_id, label.criterion_id, label.rater_id, label.stage)
