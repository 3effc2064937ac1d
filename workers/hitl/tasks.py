"""What goes out to raters, and what stays behind: a task shows the text and nothing that anybody said of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from schemas.bom import Bom
from schemas.decisions import Decision
from schemas.drafts import Draft
from schemas.ids import event_id
from schemas.labels import HumanVote, LabelTask, SampledItem, TaskKind
from stats.sampling import BottomK, draw
from stats.unavailable import Unavailable
from workers.bom.labelled_set import LabelledItem
from workers.hitl.population import Week
from workers.hitl.seeking import Sought


class Asked(NamedTuple):
    """A task, and beside it what raters must not see."""

    task: LabelTask
    sampled: SampledItem


def ask(sought: Sought, draft: Draft, bom: Bom, week: Week, *, now: datetime) -> Asked:
    """The task for a drawn item; ``draft`` is the very draft that was sought."""
    decision, said = sought.drawn.decision, sought.said
    task = _task(draft, sought.task_id(week), bom, week, now=now)
    sampled = SampledItem(
        item_id=decision.item_id,
        event_id=event_id("sampled_item", task.task_id),
        task_id=task.task_id,
        kind=sought.drawn.kind,
        week=week.name,
        round_id=decision.round_id,
        attempt=sought.attempt,
        stratum=decision.decision,
        slices=decision.slices,
        inclusion_probability=sought.drawn.inclusion,
        bom_version=sought.bom_version,
        judged_sha256=sought.judged_sha256,
        judge_labels=dict(said.labels),
        judge_clauses=dict(said.clauses),
        judge_confidence=dict(said.confidence),
        audit_labels=dict(said.audit),
        guideline_version=bom.guideline_version,
        guideline_clauses=tuple(bom.clauses),
        sampled_at=now,
    )
    return Asked(task, sampled)


def ask_gold(items: Sequence[LabelledItem], size: int, bom: Bom, week: Week, *, now: datetime) -> list[Asked]:
    """Items with known answers, another handful every week. They are outside every stratum and every figure."""
    if not items or not size:
        return []
    by_id = {item.item_id: item for item in items}
    bottom = BottomK(size, salt=f"{week.name} {TaskKind.GOLD}")
    for item_id in by_id:
        bottom.add("gold", item_id)
    inclusion = bottom.inclusion("gold")
    assert not isinstance(inclusion, Unavailable)
    return [_gold(by_id[item_id], inclusion, bom, week, now=now) for item_id in bottom.sample("gold")]


def _gold(item: LabelledItem, inclusion: float, bom: Bom, week: Week, *, now: datetime) -> Asked:
    draft = item.as_draft()
    cause = event_id("gold_item", item.item_id)
    id_ = event_id("label_task", week.name, TaskKind.GOLD, cause, draft.judged_sha256)
    task = _task(draft, id_, bom, week, now=now)
    sampled = SampledItem(
        item_id=item.item_id,
        event_id=event_id("sampled_item", task.task_id),
        task_id=task.task_id,
        kind=TaskKind.GOLD,
        week=week.name,
        round_id=cause,
        attempt=0,
        stratum=Decision.UNDECIDED,
        inclusion_probability=inclusion,
        gold_votes={criterion: HumanVote(vote) for criterion, vote in item.expected.items()},
        bom_version=bom.version,
        judged_sha256=draft.judged_sha256,
        guideline_version=bom.guideline_version,
        guideline_clauses=tuple(bom.clauses),
        sampled_at=now,
    )
    return Asked(task, sampled)


def shuffled(asked: Sequence[Asked]) -> list[Asked]:
    """In the order of a hash: the place in the queue must not tell a gold item or a stratum."""
    return sorted(asked, key=lambda one: draw("order", one.task.task_id))


def _task(draft: Draft, task: str, bom: Bom, week: Week, *, now: datetime) -> LabelTask:
    return LabelTask(
        item_id=draft.item_id,
        event_id=task,
        task_id=task,
        week=week.name,
        criteria=tuple(criterion.id for criterion in bom.charter.criteria.must_have),
        text=draft.text,
        context=draft.context,
        guideline_version=bom.guideline_version,
        raters_wanted=bom.charter.hitl.raters_per_item,
        asked_at=now,
    )
