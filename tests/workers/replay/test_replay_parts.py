"""Recordings, recorded producer and tally on a hand-made file: ties, null labels, absent generators, three raters."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from schemas.decisions import Decision, ItemDecision
from schemas.revisions import RevisionRequest
from schemas.telemetry import AttemptRecord
from workers.replay.producer import RecordedProducer
from workers.replay.recordings import (
    HumanLabel,
    RecordingError,
    SideTexts,
    generators_of,
    items_of,
    judges_of,
    read_rows,
    read_side_texts,
)
from workers.replay.tally import Tally

NOW = datetime(2026, 11, 30, tzinfo=UTC)
SHA = "0" * 64


def row(item: str, generator: str, votes: str, *, judge: str | None = "fail", ref: str | None = "s1") -> str:
    """``votes``: one letter a rater: p, f, or - for a rater without a label."""
    labels = {"p": "pass", "f": "fail", "-": None}
    meta = {"generator": generator, "source_ref": ref}
    return json.dumps(
        {
            "item_id": item,
            "task_context": "Judge it.",
            "draft": f"text of {item}",
            "raters": [{"rater_id": f"r{n}", "label": labels[vote]} for n, vote in enumerate(votes)],
            "judges": [{"model": "j", "label": judge}],
            "meta": meta,
        }
    )


LINES = [
    row("a1", "g1", "ppf"),
    row("a2", "g2", "ff-"),
    row("b2", "g2", "pf", ref="s2"),
    row("b1", "g1", "---", ref="s2", judge=None),
    row("alone", "g3", "fff", ref=None),
]


@pytest.mark.parametrize(
    ("votes", "label"),
    [
        ("ppf", HumanLabel.PASS),
        ("ff-", HumanLabel.FAIL),
        ("pf", HumanLabel.UNDECIDED),
        ("---", HumanLabel.UNDECIDED),
        ("", HumanLabel.UNDECIDED),
        ("f--", HumanLabel.FAIL),
    ],
)
def test_the_human_label_is_the_strict_majority_of_those_who_labelled(votes: str, label: HumanLabel) -> None:
    assert read_rows("f", [row("x", "g", votes)])[0].human_label is label


def test_items_are_grouped_by_source_and_drafts_ordered_by_generator() -> None:
    items = items_of(read_rows("f", LINES), SideTexts({}, {}), order=["g2", "g1", "g3"])
    assert [(i.item_id, [d.record for d in i.drafts]) for i in items] == [
        ("s1", ["a2", "a1"]),
        ("s2", ["b2", "b1"]),
        ("alone", ["alone"]),
    ]


def test_an_absent_generator_is_skipped_and_an_item_without_any_is_left_out() -> None:
    items = items_of(read_rows("f", [*LINES, row("c3", "g3", "p", ref="s3")]), SideTexts({}, {}), order=["g1", "g3"])
    assert [(i.item_id, [d.record for d in i.drafts]) for i in items] == [
        ("s1", ["a1"]),
        ("s2", ["b1"]),
        ("alone", ["alone"]),
        ("s3", ["c3"]),
    ]


def test_generators_and_judges_come_in_order_of_appearance() -> None:
    rows = read_rows("f", LINES)
    assert generators_of(rows) == ("g1", "g2", "g3")
    assert judges_of(rows) == ("j",)


@pytest.mark.parametrize(
    ("lines", "order", "message"),
    [
        (["{"], [], "line 1"),
        (["[]"], [], "line 1"),
        ([], [], "holds no rows"),
        (['{"item_id":"a","raters":[{"label":"Fail"}]}'], [], r"raters\.0\.label"),
        (['{"item_id":"a","meta":{"draft_ref":"x"}}'], [], "--sources"),
        (LINES, ["g9"], "g1, g2, g3"),
    ],
)
def test_a_bad_recording_is_one_clear_error(lines: list[str], order: list[str], message: str) -> None:
    with pytest.raises(RecordingError, match=message):
        items_of(read_rows("f", lines), SideTexts({}, {}), order=order)


def test_side_texts_serve_drafts_and_sources_and_json_becomes_metadata() -> None:
    side = [json.dumps({"source_ref": "s", "source": '{"mass": "1 kg"}'}), json.dumps({"draft_ref": "d", "draft": "D"})]
    texts = read_side_texts([("sources", side)])
    line = json.dumps({"item_id": "x", "meta": {"source_ref": "s", "draft_ref": "d"}})
    draft = items_of(read_rows("f", [line]), texts)[0].drafts[0]
    assert draft.text == "D"
    assert [item.metadata for item in draft.context.items if item.role == "target"] == [{"mass": "1 kg"}]


def request(item: str, attempt: int) -> RevisionRequest:
    return RevisionRequest(
        event_id="rev", item_id=item, attempt=attempt, next_attempt=attempt + 1, attempts_left=1, round_id="round",
        judged_sha256=SHA, text_sha256=SHA, draft_uri="kafka://d/0/0", bom_version="bom", notes=(), requested_at=NOW,
    )  # fmt: skip


def test_the_recorded_producer_answers_with_the_next_draft_until_they_run_out() -> None:
    producer = RecordedProducer(items_of(read_rows("f", LINES), SideTexts({}, {}), order=["g1", "g2", "g3"]))
    assert [d.item_id for d in producer.first_drafts()] == ["s1", "s2", "alone"]
    answer = producer.answer(request("s1", 0))
    assert answer is not None
    assert (answer.text, answer.attempt, answer.revises and answer.revises.revision_id) == ("text of a2", 1, "rev")
    assert producer.answer(request("s1", 0)) == answer
    assert producer.answer(request("s1", 1)) is None
    assert producer.answer(request("nobody", 0)) is None


def decision(item: str, stratum: Decision, attempt: int, bom: str = "bom") -> ItemDecision:
    return ItemDecision(
        event_id=f"{item}", item_id=item, round_id="r", decision=stratum, attempt=attempt, text_sha256=SHA,
        judged_sha256=SHA, draft_uri="kafka://d/0/0", bom_version=bom, enforced=True, released="nothing",
        decided_at=NOW,
    )  # fmt: skip


def attempt(item: str, number: int) -> AttemptRecord:
    example = Path(__file__).parents[3] / "schemas" / "examples" / "telemetry" / "attempt.json"
    record = AttemptRecord.model_validate_json(example.read_bytes())
    return record.model_copy(update={"item_id": item, "attempt": number, "bom_version": "bom"})


def test_the_tally_counts_each_item_once_and_exhausted_among_the_dropped() -> None:
    items = items_of(read_rows("f", LINES), SideTexts({}, {}), order=["g1", "g2", "g3"])
    tally = Tally(items, retry_budget=2, bom_version="bom")
    for _ in range(2):
        tally.decision(decision("s1", Decision.SERVED_AFTER_REVISION, 1))
        tally.decision(decision("s2", Decision.SERVED_FIRST_PASS, 0))
        tally.decision(decision("alone", Decision.SERVED_FIRST_PASS, 0, bom="another"))
        tally.decision(decision("stranger", Decision.DROPPED, 0))
        assert not tally.complete
    tally.ran_out(request("alone", 0))
    assert not tally.complete  # the request was heard first; the attempt that it is about is not on record yet
    tally.attempt(attempt("alone", 0))
    assert tally.complete
    summary = tally.summary()
    assert summary.served_by_attempt == [1, 1, 0]
    assert (summary.dropped, summary.exhausted, summary.undecided) == (1, 1, 0)
    assert summary.human_fail_by_attempt == [0, 1, 0]  # a2: two of two fail
    assert summary.human_undecided_by_attempt == [1, 0, 0]  # b1: nobody labelled
