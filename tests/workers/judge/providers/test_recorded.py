from __future__ import annotations

import json
from typing import Any

import pytest

from schemas.drafts import Draft
from schemas.errors import BomError, ModelError
from schemas.verdict_space import Cause, Flag
from schemas.verdicts import MAX_SPAN_CHARS
from tests.workers.judge.asked import draft, question, within
from workers.judge.protocols import Question, Reply
from workers.judge.providers.recorded import NO_REASON, RecordedModel, RecordedVerdict, read_recording, record_of

pytestmark = pytest.mark.anyio


def line(item_id: str, *judges: dict[str, Any]) -> str:
    return json.dumps({"item_id": item_id, "draft": "long text", "raters": [], "judges": list(judges), "meta": {}})


RECORDING = "\n".join(
    [
        line(
            "r-1",
            {"model": "gpt", "label": "fail", "reason": "x" * 700, "spans": [{"text": "6.7 inch", "start": 2}]},
            {"model": "other", "label": "pass", "reason": None},
        ),
        line("r-2", {"model": "gpt", "label": "pass", "reason": None, "spans": [{"text": "not needed"}]}),
        line("r-3", {"model": "gpt", "label": None, "reason": "could not say"}),
        line("r-4", {"model": "other", "label": "fail", "reason": "bad"}),
        "",
        line("r-5", {"model": "gpt", "label": "fail", "reason": " ", "spans": [{"text": " "}, {}, 7, "plain"]}),
        line("r-6", {"model": "gpt", "label": "fail", "reason": "bad"}, {"model": "gpt", "label": "pass"}),
        json.dumps({"item_id": "r-7"}),
    ]
).encode()


def recorded_draft(record: Any, text: str = "A 6.7 inch display.") -> Draft:
    items = [{"role": "target", "metadata": {"record": "no"}}, {"role": "recording", "metadata": record}]
    return draft(text, context={"instruction": "Judge.", "items": items})


async def ask(record: Any, text: str = "A 6.7 inch display.") -> Reply:
    model = RecordedModel(read_recording("rec.jsonl", RECORDING, judge="gpt"), judge="gpt", clause="R-1")
    asked = question()
    judged = recorded_draft(record, text)
    return await model.ask(Question("recorded", asked.prompt, asked.schema, judged), deadline=within(5))


async def test_a_fail_is_replayed_with_the_clause_of_the_replays_bom_and_its_reason_cut() -> None:
    reply = await ask({"record": "r-1"})
    assert json.loads(reply.text or "") == {
        "label": "fail",
        "reason": "x" * 600,
        "evidence_spans": ["6.7 inch"],
        "guideline_clause": "R-1",
    }
    assert (reply.flags, reply.model, reply.finish_reason) == ((Flag.REASON_CUT,), "gpt", "stop")
    assert (reply.input_tokens, reply.output_tokens) == (None, None)


async def test_a_pass_without_a_reason_gets_the_fixed_text_and_no_spans() -> None:
    reply = await ask({"record": "r-2"})
    assert json.loads(reply.text or "") == {"label": "pass", "reason": NO_REASON}
    assert reply.flags == ()


async def test_a_fail_without_spans_gets_the_draft_flagged() -> None:
    reply = await ask({"record": "r-6"}, text="  A bad draft.\n")
    assert json.loads(reply.text or "")["evidence_spans"] == ["A bad draft."]
    assert reply.flags == (Flag.SPAN_INVENTED,)
    long = json.loads((await ask({"record": "r-6"}, text="é" * 5_000)).text or "")
    assert long["evidence_spans"] == ["é" * MAX_SPAN_CHARS]


async def test_spans_that_are_no_text_are_left_out() -> None:
    reply = json.loads((await ask({"record": "r-5"})).text or "")
    assert (reply["evidence_spans"], reply["reason"]) == (["plain"], NO_REASON)


@pytest.mark.parametrize(
    "record", [{"record": "r-3"}, {"record": "r-4"}, {"record": "r-7"}, {"record": "r-99"}, {"record": 3}, {}, None]
)
async def test_no_label_is_no_verdict(record: Any) -> None:
    with pytest.raises(ModelError) as caught:
        await ask(record)
    assert caught.value.cause is Cause.NOT_RECORDED


def test_the_record_is_that_of_the_recording_item_alone() -> None:
    assert record_of(recorded_draft({"record": "r-1"})) == "r-1"
    assert record_of(draft(context={"items": [{"role": "target", "metadata": {"record": "r-1"}}]})) is None


def test_only_the_chosen_judges_words_are_kept() -> None:
    verdicts = read_recording("rec.jsonl", RECORDING, judge="other")
    assert verdicts == {"r-1": RecordedVerdict("pass", None, ()), "r-4": RecordedVerdict("fail", "bad", ())}


def test_an_unknown_judge_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(BomError, match="'gtp' is recorded; there are: gpt, other"):
        read_recording("rec.jsonl", RECORDING, judge="gtp")
    with pytest.raises(BomError, match="there are: none"):
        read_recording("rec.jsonl", b"", judge="gpt")


@pytest.mark.parametrize(
    "bad",
    [
        b"{",
        b"[]",
        b'{"judges": []}',
        b'{"item_id": 3}',
        b'{"item_id": "a", "judges": 3}',
        b'{"item_id": "a", "judges": [{}]}',
        b'{"item_id": "a", "judges": [{"model": "gpt", "label": "FAIL"}]}',
        b'{"item_id": "a", "judges": [{"model": "gpt", "label": ["fail"]}]}',
        b'{"item_id": "a", "judges": [{"model": "gpt", "label": "not_implemented"}]}',
        b"\xff",
    ],
)
def test_a_row_that_cannot_be_read_is_refused_with_its_line(bad: bytes) -> None:
    with pytest.raises(BomError, match=r"rec\.jsonl, line 2"):
        read_recording("rec.jsonl", b'{"item_id": "z"}\n' + bad, judge="gpt")
