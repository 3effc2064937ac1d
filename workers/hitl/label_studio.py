"""Label Studio's JSON: the labelling configuration for our tasks, and rows out of its export. Pure.

A criterion is a ``Choices`` named like it; its rationale, failure mode and clause are ``TextArea``
named ``<criterion>__rationale`` and so on. Raters are known by their number in Label Studio, never by
their e-mail address.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from schemas.labels import HumanVote
from workers.hitl.rows import Problem, Row

_FIELDS = ("rationale", "failure_mode", "clause")


def labelling_config(criteria: Sequence[str]) -> str:
    """What to paste into the project's labelling interface."""
    choices = "".join(f'      <Choice value="{vote}"/>\n' for vote in HumanVote)
    asked = ""
    for criterion in criteria:
        asked += f"  <Header value={quoteattr(criterion)}/>\n"
        asked += (
            f'    <Choices name={quoteattr(criterion)} toName="text" choice="single-radio">\n{choices}    </Choices>\n'
        )
        for field in _FIELDS:
            name, hint = quoteattr(f"{criterion}__{field}"), quoteattr(f"{field} (a fail needs a rationale)")
            asked += f'    <TextArea name={name} toName="text" maxSubmissions="1" placeholder={hint}/>\n'
    shown = "".join(
        f'  <Header value="{name}"/>\n  <Text name="{name}" value="${name}"/>\n'
        for name in ("instruction", "constraints", "items", "text")
    )
    return f"<View>\n{shown}{asked}</View>\n"


def from_export(raw: bytes) -> Iterator[Row | Problem]:
    """One row for every criterion that an annotation answers. Cancelled (skipped) annotations are passed over."""
    try:
        tasks = json.loads(raw)
    except (ValueError, RecursionError):
        tasks = None
    if not isinstance(tasks, list):
        yield Problem("the file", "the document", "not a Label Studio export; export the project as JSON")
        return
    for number, task in enumerate(tasks, 1):
        where = f"task {number}"
        data, annotations = (task.get("data"), task.get("annotations")) if isinstance(task, dict) else (None, None)
        if not isinstance(data, dict) or not isinstance(annotations, list):
            yield Problem(where, "annotations", "missing; export as JSON, not as JSON-MIN")
            continue
        for place, annotation in enumerate(annotations, 1):
            yield from _rows(f"{where}, annotation {place}", data, annotation)


def _rows(where: str, data: dict[str, Any], annotation: Any) -> Iterator[Row | Problem]:
    if not isinstance(annotation, dict) or not isinstance(annotation.get("result"), list):
        yield Problem(where, "result", "missing; export as JSON")
        return
    if annotation.get("was_cancelled"):
        return
    rater = annotation.get("completed_by")
    rater = rater.get("id") if isinstance(rater, dict) else rater
    if not isinstance(rater, int) or isinstance(rater, bool):
        yield Problem(where, "completed_by", "missing; without it nobody knows who said so")
        return
    answers: dict[str, dict[str, Any]] = {}
    for region in annotation["result"]:
        if (answer := _answer(region)) is None:
            yield Problem(
                where, "result", "a region that is neither a choice nor a text; use our labelling configuration"
            )
            return
        criterion, field, value = answer
        answers.setdefault(criterion, {})[field] = value
    common = {
        "task_id": data.get("task_id"),
        "rater_id": f"label-studio-{rater}",
        "guideline_version": data.get("guideline_version"),
        "labelled_at": annotation.get("created_at"),
    }
    for criterion, fields in answers.items():
        yield Row(f"{where}, {criterion[:64]}", {**common, "criterion_id": criterion, **fields})


def _answer(region: Any) -> tuple[str, str, str] | None:
    """(criterion, field, value) of one region of a result."""
    if not isinstance(region, dict) or not isinstance(region.get("from_name"), str):
        return None
    name, value = region["from_name"], region.get("value")
    field = next((field for field in _FIELDS if name.endswith(f"__{field}")), "")
    criterion = name.removesuffix(f"__{field}") if field else name
    wanted = "text" if field else "choices"
    said = value.get(wanted) if isinstance(value, dict) else None
    texts = [said] if isinstance(said, str) else said
    if not isinstance(texts, list) or not all(isinstance(t, str) for t in texts):
        return None
    return criterion, field or "vote", "\n".join(texts)
