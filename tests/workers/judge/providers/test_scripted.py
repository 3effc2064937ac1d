from __future__ import annotations

import asyncio
import json

import pytest

from schemas.errors import BomError, ModelError
from tests.workers.judge.asked import question, within
from workers.judge.protocols import Question, Reply
from workers.judge.providers.scripted import Script, ScriptedModel

pytestmark = pytest.mark.anyio

SCRIPT = """
cases:
  - criterion: grounding
    contains: 6.7 inch
    reply: {label: fail, reason: "The sheet says 6.1.", evidence_spans: [6.7 inch], guideline_clause: G-1}
    input_tokens: 120
    output_tokens: 30
  - matches: "(?i)refuse"
    reply: I cannot evaluate this.
    finish_reason: content_filter
  - contains: flaky
    error: rate_limited
    retry_after_s: 0.5
    times: 2
  - contains: other model
    reply: {label: pass, reason: fine}
    model: judge-2
default:
  reply: {label: pass, reason: fine}
"""


def scripted(text: str = SCRIPT) -> ScriptedModel:
    return ScriptedModel(Script.read("script.yaml", text.encode(), model="judge-1"))


async def ask(model: ScriptedModel, text: str, criterion: str = "grounding") -> Reply:
    asked = question(text)
    return await model.ask(Question(criterion, asked.prompt, asked.schema, asked.draft), deadline=within(5))


async def test_the_first_case_that_fits_answers_else_the_default() -> None:
    model = scripted()
    fail = await ask(model, "A 6.7 inch display.")
    assert json.loads(fail.text or "")["label"] == "fail"
    assert (fail.model, fail.input_tokens, fail.output_tokens) == ("judge-1", 120, 30)
    assert json.loads((await ask(model, "A 6.7 inch display.", "tone")).text or "")["label"] == "pass"
    refusal = await ask(model, "REFUSE me")
    assert (refusal.text, refusal.finish_reason) == ("I cannot evaluate this.", "content_filter")
    assert (await ask(model, "other model")).model == "judge-2"
    default = await ask(model, "anything")
    assert (default.text, default.input_tokens) == ('{"label": "pass", "reason": "fine"}', None)


async def test_a_case_with_times_answers_that_often_for_each_draft_in_any_order() -> None:
    model = scripted()

    async def said(text: str) -> str:
        try:
            return (await ask(model, text)).finish_reason or ""
        except ModelError as error:
            return f"{error.cause} {error.retry_after_s}"

    answers = await asyncio.gather(*(said(text) for text in ["flaky a", "flaky b"] * 3))
    assert answers == ["rate_limited 0.5"] * 4 + ["stop"] * 2


async def test_latency_is_kept() -> None:
    started = asyncio.get_running_loop().time()
    await ask(scripted("default: {reply: x, latency_s: 0.02}"), "any")
    assert asyncio.get_running_loop().time() - started >= 0.02


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "the document"),
        ("default: {}", "default"),
        ("default: {reply: x, error: timeout}", "default"),
        ("default: {error: no_such_cause}", "default.error"),
        ("cases: [{reply: x, matches: '('}]\ndefault: {reply: x}", "cases.0"),
        ("cases: [{reply: x, contain: y}]\ndefault: {reply: x}", "cases.0.contain"),
        ("cases: [{reply: x, times: 0}]\ndefault: {reply: x}", "cases.0.times"),
        ("cases: [{reply: x}]", "default"),
        ("default: [", "line 1"),
        ("\xff", "default"),
        ("default: !!python/object/apply:os.getcwd []", "line 1"),
    ],
)
def test_a_bad_script_is_refused_with_the_place(text: str, place: str) -> None:
    with pytest.raises(BomError, match=r"script\.yaml") as caught:
        Script.read("script.yaml", text.encode(), model="judge-1")
    assert place in str(caught.value) or text == "\xff"


async def test_a_python_function_is_a_model_too() -> None:
    async def slowly(asked: Question) -> Reply:
        await asyncio.sleep(0)
        return Reply(asked.prompt.user)

    assert (await ask(ScriptedModel(lambda asked: Reply(asked.criterion_id)), "x")).text == "grounding"
    assert (await ask(ScriptedModel(slowly), "x")).text == "Draft: x"
