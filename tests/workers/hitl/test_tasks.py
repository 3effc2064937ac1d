"""A task is blind: nothing in it tells what anybody said of the text, or why it was chosen."""

from __future__ import annotations

from schemas.codec import encode
from schemas.decisions import Decision
from schemas.labels import HumanVote, LabelTask, TaskKind
from tests.workers.canary.specimens import example_bom
from tests.workers.hitl.specimens import AT, WEEK, decision, draft
from workers.bom.labelled_set import LabelledItem
from workers.hitl.drawing import Drawn
from workers.hitl.seeking import Said, Sought
from workers.hitl.tasks import Asked, ask, ask_gold, shuffled

BOM = example_bom()
SAID = Said({"c1_spec_accuracy": "missing_evidence"}, {"c2": "G-2.1"}, {"c2": 0.93}, {"c1_spec_accuracy": "pass"})
SHOWN = {
    "type", "item_id", "event_id", "task_id", "week", "criteria", "text", "context", "guideline_version",
    "raters_wanted", "asked_at",
}  # fmt: skip


def asked(k: int = 7, kind: TaskKind = TaskKind.SAMPLE, attempt: int = 0) -> Asked:
    drawn = Drawn(decision(k, Decision.DROPPED, "new_item"), kind, 0.125)
    d = drawn.decision
    sought = Sought(drawn, attempt, d.draft_uri, d.judged_sha256, d.bom_version, SAID)
    return ask(sought, draft(k), BOM, WEEK, now=AT)


def gold() -> Asked:
    item = LabelledItem(item_id="sku-9", draft=draft(9).model_dump(mode="json"), expected={"c1_spec_accuracy": "fail"})
    return ask_gold([item], 5, BOM, WEEK, now=AT)[0]


def test_no_verdict_model_vote_stratum_or_known_answer_is_in_a_task():
    for one in (asked(), asked(kind=TaskKind.AUDIT), asked(kind=TaskKind.PAIR, attempt=1), gold()):
        assert set(LabelTask.model_fields) == SHOWN  # a new field is looked at here before raters see it
        raw = encode(one.task).decode().lower()
        for told in (
            "dropped",
            "missing_evidence",
            "gen-writer",
            "new_item",
            "gold",
            "audit",
            "pair",
            "0.125",
            "bom-",
            "fail",
            "g-2.1",
            "0.93",
        ):
            assert told not in raw, told
        assert one.sampled.round_id not in raw


def test_all_kinds_of_tasks_look_alike():
    kinds = (asked(), asked(kind=TaskKind.AUDIT), asked(kind=TaskKind.PAIR, attempt=1), gold())
    shapes = [set(one.task.model_dump(exclude_none=True)) for one in kinds]
    assert all(shape == shapes[0] for shape in shapes)
    assert asked().task.raters_wanted == gold().task.raters_wanted == 3


def test_what_raters_must_not_see_is_beside_the_task_under_its_id():
    one = asked()
    assert one.sampled.task_id == one.task.task_id
    assert (one.sampled.stratum, one.sampled.inclusion_probability) == (Decision.DROPPED, 0.125)
    assert one.sampled.judge_labels == {"c1_spec_accuracy": "missing_evidence"}
    assert (one.sampled.judge_clauses, one.sampled.judge_confidence) == ({"c2": "G-2.1"}, {"c2": 0.93})
    assert one.sampled.audit_labels == {"c1_spec_accuracy": "pass"}
    assert gold().sampled.gold_votes == {"c1_spec_accuracy": HumanVote.FAIL}


def test_ids_repeat_and_differ_by_kind_and_item():
    assert asked().task.task_id == asked().task.task_id
    assert len({asked().task.task_id, asked(8).task.task_id, asked(kind=TaskKind.AUDIT).task.task_id}) == 3
    # Two drafts of a round with the same words are two tasks.
    assert len({asked(kind=TaskKind.PAIR, attempt=attempt).task.task_id for attempt in (0, 1)}) == 2


def test_a_sample_remembers_the_guidelines_that_its_task_is_asked_under():
    for one in (asked(), gold()):
        assert one.sampled.guideline_version == one.task.guideline_version == BOM.guideline_version
        assert one.sampled.guideline_clauses == tuple(BOM.clauses)


def test_the_order_of_the_queue_says_nothing_and_repeats():
    many = [asked(k) for k in range(30)]
    assert shuffled(many) == shuffled(many[::-1])
    assert shuffled(many) != many
