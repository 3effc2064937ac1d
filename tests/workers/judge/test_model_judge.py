from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from schemas.bom import ModelBinding
from schemas.drafts import Draft
from schemas.errors import ModelError
from schemas.verdict_space import Cause, Flag, Label
from schemas.verdicts import Served
from tests.data import data_file, data_rows
from tests.services.model_server import PASS, ModelServer, answers, completion, echoes, model_server, sends
from tests.workers.judge.asked import binding, draft, within
from tests.workers.judge.counted import Counted
from workers.judge.forms import BINARY, VerdictForm
from workers.judge.model_judge import ModelJudge
from workers.judge.pricing import Price
from workers.judge.protocols import Counters, Model, NoCounters, Prompt, Question, Reply
from workers.judge.providers.endpoint import Endpoint
from workers.judge.providers.http import http_client
from workers.judge.providers.openai_compatible import OpenAICompatible
from workers.judge.providers.recorded import RecordedModel, read_recording
from workers.judge.providers.scripted import ScriptedModel
from workers.judge.schema import STRICT_SCHEMA

pytestmark = pytest.mark.anyio

TEXT = "A phone with a 6.7 inch display."
FAIL = json.dumps(
    {"label": "fail", "reason": "The sheet says 6.1.", "evidence_spans": ["6.7 inch"], "guideline_clause": "G-1"}
)
Answer = Callable[[Question], Reply | Awaitable[Reply]]


def judge_by(
    model: Model | Answer,
    *,
    bound: ModelBinding | None = None,
    counters: Counters | None = None,
    form: VerdictForm = BINARY,
) -> ModelJudge:
    return ModelJudge(
        "grounding",
        model=ScriptedModel(model) if callable(model) else model,
        binding=bound or binding(),
        render=lambda judged: Prompt("You judge.", judged.text),
        form=form,
        clauses=("G-1", "G-2"),
        price=Price(input_per_mtok=2.5, output_per_mtok=10.0),
        counters=counters or NoCounters(),
        clock=asyncio.get_running_loop().time,
    )


def replying(text: str | None, **served: Any) -> Answer:
    fields = {"finish_reason": "stop", "model": "judge-1", "input_tokens": 120, "output_tokens": 30, **served}
    return lambda _: Reply(text, **fields)


def in_turn(*outcomes: Reply | ModelError) -> Answer:
    left = list(outcomes)

    def answer(_: Question) -> Reply:
        outcome = left.pop(0)
        if isinstance(outcome, ModelError):
            raise outcome
        return outcome

    return answer


async def test_a_fail_is_kept_whole_with_what_it_cost_and_what_was_served() -> None:
    verdict = await judge_by(replying(FAIL, fingerprint="fp_1")).judge(draft(TEXT), deadline=within(5))
    assert (verdict.label, verdict.cause, verdict.reason) == (Label.FAIL, None, "The sheet says 6.1.")
    assert (verdict.evidence_spans, verdict.guideline_clause) == (("6.7 inch",), "G-1")
    assert (verdict.judge, verdict.criterion_id, verdict.flags, verdict.cached) == ("judge-1", "grounding", (), False)
    # by hand: 120 x 2.5 / 1e6 + 30 x 10 / 1e6
    assert verdict.usage.cost_usd == pytest.approx(0.0006)
    assert (verdict.usage.calls, verdict.usage.input_tokens, verdict.usage.output_tokens) == (1, 120, 30)
    assert verdict.served == Served(model="judge-1", fingerprint="fp_1", finish_reason="stop", content_chars=len(FAIL))


async def test_the_question_carries_prompt_schema_and_draft() -> None:
    asked: list[Question] = []

    def answer(question: Question) -> Reply:
        asked.append(question)
        return Reply(PASS)

    await judge_by(answer).judge(draft(TEXT), deadline=within(5))
    assert asked == [Question("grounding", Prompt("You judge.", TEXT), STRICT_SCHEMA, draft(TEXT))]


PASS_ = '{"label": "pass", "reason": "fine"}'


@pytest.mark.parametrize("cause", list(Cause))
async def test_a_failing_model_is_an_abstain_with_its_cause_and_never_a_fail(cause: Cause) -> None:
    counted = Counted()
    judge = judge_by(in_turn(ModelError(cause, "HTTP 500", calls=3)), counters=counted)
    verdict = await judge.judge(draft(TEXT), deadline=within(5))
    assert (verdict.label, verdict.cause, verdict.detail, verdict.served) == (Label.ABSTAIN, cause, "HTTP 500", None)
    assert (verdict.usage.calls, verdict.usage.cost_usd, verdict.usage.input_tokens) == (3, None, None)
    assert counted.counts == {
        "model_calls grounding": 3,
        f"model_non_decisions grounding {cause}": 1,
        "model_cost_unknown grounding": 1,
    }


async def test_a_model_that_was_never_called_cost_nothing() -> None:
    judge = judge_by(in_turn(ModelError(Cause.TIMEOUT, calls=0)))
    verdict = await judge.judge(draft(TEXT), deadline=within(5))
    assert (verdict.usage.calls, verdict.usage.cost_usd) == (0, 0.0)


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        (Reply("**fail**"), Cause.UNPARSEABLE),
        (Reply("{"), Cause.UNPARSEABLE),
        (Reply('{"label": "fail", "reason": "bad"}'), Cause.UNPARSEABLE),
        (Reply(None, finish_reason="length"), Cause.TRUNCATED),
        (Reply(None, reasoned=True, finish_reason="stop"), Cause.TRUNCATED),
        (Reply(None), Cause.UNPARSEABLE),
        (Reply(FAIL, finish_reason="content_filter"), Cause.REFUSED),
        (Reply(None, refusal=True), Cause.REFUSED),
    ],
)
async def test_an_unreadable_reply_abstains_and_is_charged_and_keeps_what_was_served(
    reply: Reply, cause: Cause
) -> None:
    served = Reply(**{**_fields(reply), "model": "judge-1", "input_tokens": 120, "output_tokens": 30})
    verdict = await judge_by(in_turn(served)).judge(draft(TEXT), deadline=within(5))
    assert (verdict.label, verdict.cause) == (Label.ABSTAIN, cause)
    assert verdict.usage.cost_usd == pytest.approx(0.0006)
    assert verdict.served == Served(
        model="judge-1", finish_reason=reply.finish_reason, content_chars=len(reply.text or "")
    )


def _fields(reply: Reply) -> dict[str, Any]:
    return {name: getattr(reply, name) for name in ("text", "finish_reason", "refusal", "reasoned")}


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        (FAIL.replace("6.7 inch", "7.6 inch"), Flag.UNVERIFIED_SPAN),
        (FAIL.replace("G-1", "G-9"), Flag.UNKNOWN_CLAUSE),
    ],
)
async def test_a_fail_whose_quote_or_clause_does_not_hold_stays_a_fail_and_is_flagged(text: str, flag: Flag) -> None:
    verdict = await judge_by(replying(text)).judge(draft(TEXT), deadline=within(5))
    assert (verdict.label, verdict.flags) == (Label.FAIL, (flag,))
    assert not verdict.evidence_spans or verdict.guideline_clause is None


async def test_another_served_model_is_flagged_and_an_unnamed_one_is_not() -> None:
    other = await judge_by(replying(PASS_, model="judge-2")).judge(draft(TEXT), deadline=within(5))
    assert (other.label, other.flags) == (Label.PASS, (Flag.MODEL_MISMATCH,))
    assert other.served is not None
    assert (other.served.model, other.judge) == ("judge-2", "judge-1")
    unnamed = await judge_by(replying(PASS_, model=None)).judge(draft(TEXT), deadline=within(5))
    assert unnamed.flags == ()


async def test_flags_of_a_recorded_reply_travel() -> None:
    verdict = await judge_by(replying(FAIL, flags=(Flag.REASON_CUT,))).judge(draft(TEXT), deadline=within(5))
    assert verdict.flags == (Flag.REASON_CUT,)


async def test_an_unknown_token_count_makes_the_cost_unknown() -> None:
    verdict = await judge_by(replying(PASS_, output_tokens=None)).judge(draft(TEXT), deadline=within(5))
    assert (verdict.usage.input_tokens, verdict.usage.output_tokens, verdict.usage.cost_usd) == (120, None, None)


GARBLED, ABSTAINED = (
    Reply("I think fail", input_tokens=100, output_tokens=10),
    '{"label": "abstain", "reason": "unsure"}',
)
GOOD = Reply(PASS_, model="judge-1", input_tokens=100, output_tokens=10)


async def test_an_unreadable_reply_is_not_asked_again_unless_the_binding_says_so() -> None:
    verdict = await judge_by(in_turn(GARBLED)).judge(draft(TEXT), deadline=within(5))
    assert (verdict.cause, verdict.usage.calls, verdict.flags) == (Cause.UNPARSEABLE, 1, ())


async def test_a_re_ask_is_counted_charged_and_flagged_and_happens_once() -> None:
    judge = judge_by(in_turn(GARBLED, GOOD), bound=binding(re_asks=1))
    verdict = await judge.judge(draft(TEXT), deadline=within(5))
    assert (verdict.label, verdict.flags) == (Label.PASS, (Flag.RE_ASKED,))
    assert (verdict.usage.calls, verdict.usage.input_tokens, verdict.usage.output_tokens) == (2, 200, 20)
    twice = judge_by(in_turn(GARBLED, GARBLED), bound=binding(re_asks=1))
    assert (await twice.judge(draft(TEXT), deadline=within(5))).cause is Cause.UNPARSEABLE
    failing = judge_by(in_turn(GARBLED, ModelError(Cause.TIMEOUT)), bound=binding(re_asks=1))
    verdict = await failing.judge(draft(TEXT), deadline=within(5))
    assert (verdict.cause, verdict.flags, verdict.usage.calls) == (Cause.TIMEOUT, (Flag.RE_ASKED,), 2)
    assert (verdict.usage.cost_usd, verdict.served is None) == (None, False)


async def test_a_judge_that_abstains_in_due_form_has_answered() -> None:
    judge = judge_by(in_turn(Reply(ABSTAINED)), bound=binding(re_asks=1))
    verdict = await judge.judge(draft(TEXT), deadline=within(5))
    assert (verdict.label, verdict.usage.calls, verdict.reason) == (Label.ABSTAIN, 1, "unsure")


async def test_100_judgements_at_once_on_one_judge_do_not_mix() -> None:
    def quoting(body: dict[str, Any]) -> str:
        text = body["messages"][1]["content"]
        return json.dumps({"label": "fail", "reason": text, "evidence_spans": [text], "guideline_clause": "G-1"})

    async with model_server() as server, http_client(max_connections=100) as client:
        server.behave(echoes(quoting, after_s=0.01))
        judge = judge_by(OpenAICompatible(binding(), Endpoint(server.url), client))
        texts = [f"Draft number {n}." for n in range(100)]
        verdicts = await asyncio.gather(*(judge.judge(draft(text), deadline=within(5)) for text in texts))
    assert [(verdict.reason, verdict.evidence_spans) for verdict in verdicts] == [(text, (text,)) for text in texts]


async def verdict_over_http(server: ModelServer, judged: Draft) -> tuple[Label, Cause | None]:
    async with http_client(max_connections=2) as client:
        judge = judge_by(OpenAICompatible(binding(), Endpoint(server.url), client))
        verdict = await judge.judge(judged, deadline=within(5))
    return verdict.label, verdict.cause


@pytest.mark.parametrize(
    ("behaviour", "label", "cause"),
    [
        (answers(f"```json\n{PASS_}\n```"), Label.PASS, None),
        (answers(FAIL), Label.FAIL, None),
        (answers(FAIL, finish_reason="content_filter"), Label.ABSTAIN, Cause.REFUSED),
        (answers("", finish_reason="length"), Label.ABSTAIN, Cause.TRUNCATED),
        (answers(PASS_ + FAIL), Label.ABSTAIN, Cause.UNPARSEABLE),
        (answers(PASS_, usage=None), Label.PASS, None),
        (sends(json.dumps(completion(["x"])).encode()), Label.ABSTAIN, Cause.TRUNCATED),
        (sends(b"{}"), Label.ABSTAIN, Cause.PROVIDER_ERROR),
    ],
)
async def test_what_a_server_says_ends_in_a_verdict(behaviour: Any, label: Label, cause: Cause | None) -> None:
    async with model_server() as server:
        server.behave(behaviour)
        assert await verdict_over_http(server, draft(TEXT)) == (label, cause)


@pytest.mark.parametrize(
    ("file", "name", "labels"),
    [
        ("quintd_gsmarena.jsonl", "gpt-4-1106-preview", {"fail": 340, "pass": 60}),  # counted in the file
        ("quintd_gsmarena.jsonl", "gpt-3.5", {"fail": 384, "pass": 16}),
        ("ttcw_criteria01_07.jsonl", "gemini-pro", {"pass": 235, "abstain": 17}),  # 17 null labels
        ("ttcw_criteria01_07.jsonl", "claude3-opus", {"fail": 57, "pass": 195}),
    ],
)
async def test_every_recorded_verdict_is_replayed_as_it_was_recorded(
    file: str, name: str, labels: dict[str, int]
) -> None:
    raw = data_file(file).read_bytes()
    recorded = RecordedModel(read_recording(file, raw, judge=name), judge=name, clause="G-1")
    judge = judge_by(recorded, bound=binding(provider="recorded", model=name))
    said: Counter[str] = Counter()
    for row in data_rows(file):
        context = {"instruction": "x", "items": [{"role": "recording", "metadata": {"record": row["item_id"]}}]}
        verdict = await judge.judge(draft(row["draft"] or "not in this file", context=context), deadline=within(5))
        assert verdict.cause in (None, Cause.NOT_RECORDED)
        said[verdict.label] += 1
    assert said == labels
