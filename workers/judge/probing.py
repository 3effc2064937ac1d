"""A self-test of one binding in a few cheap calls: does the model answer as the BOM needs it to?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import NamedTuple

from schemas.bom import ModelBinding, StructuredOutput
from schemas.drafts import Context, ContextItem, Draft
from schemas.errors import ModelError
from schemas.verdict_space import Cause
from workers.judge.forms import BINARY, VerdictForm
from workers.judge.model_judge import read
from workers.judge.pricing import Price, cost_usd
from workers.judge.protocols import Model, Prompt, Question, Reply


class Finding(StrEnum):
    """What is wrong with a binding, and what to look at."""

    WRONG_KEY = "wrong_key"
    BAD_REQUEST = "bad_request"  # an unknown model, or a parameter that the endpoint does not take
    UNREACHABLE = "unreachable"
    NO_ANSWER = "no_answer"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    UNREADABLE = "unreadable"
    NO_STRUCTURED_OUTPUT = "no_structured_output"  # the endpoint takes the schema and does not keep to it
    USAGE_MISSING = "usage_missing"
    MODEL_MISMATCH = "model_mismatch"
    NO_LOGPROBS = "no_logprobs"
    SLOW = "slow"


class Way(NamedTuple):
    """One way in which a criterion asks: how a draft is shown, and how the reply is read."""

    render: Callable[[Draft], Prompt]
    form: VerdictForm = BINARY


@dataclass(frozen=True, slots=True)
class Probe:
    """What was found. ``latency_ms`` is the slowest call's; ``cost_usd`` None = unknown, never 0."""

    calls: int
    latency_ms: float
    findings: Mapping[Finding, str]
    cost_usd: float | None
    served_model: str | None = None


_SHEET = {"name": "Orla Kettle", "volume": "1.7 l", "power": "2200 W", "body": "steel"}
_TRUE = "The Orla Kettle boils 1.7 l at 2200 W; its body is steel, and it stands on any worktop in the kitchen."
_FALSE = (
    "The Orla Kettle boils 9 l at 9000 W, is guaranteed to last a lifetime, and cures every cold within a day. Its "
    "body is solid gold, it is the best kettle ever made, and no other one may be sold beside it."
)
_RIVAL = "The Orla Kettle is made of steel, holds 1.7 l and heats it at 2200 W."  # for comparisons
_PROSE = Prompt("Answer in plain English prose. Never write JSON.", "Say in one short sentence what a kettle is for.")

_BY_CAUSE = {
    Cause.UNAUTHORIZED: Finding.WRONG_KEY,
    Cause.BAD_REQUEST: Finding.BAD_REQUEST,
    Cause.UNREACHABLE: Finding.UNREACHABLE,
    Cause.TRUNCATED: Finding.TRUNCATED,
    Cause.REFUSED: Finding.REFUSED,
    Cause.UNPARSEABLE: Finding.UNREADABLE,
}
_SLOW_SHARE = 0.5


async def probe(
    model: Model,
    *,
    criterion_id: str,
    binding: ModelBinding,
    ways: Sequence[Way],
    clauses: Collection[str],
    price: Price | None,
    clock: Callable[[], float],
) -> Probe:
    """A draft that passes and one that fails in many ways (the longest reply), in each of the ``ways`` (two for a
    comparison: its orders), then a plea for prose that the structured output must override. The first call that fails
    altogether ends it. ``model`` must bound its own time."""
    replies: list[Reply] = []
    slowest_s, calls = 0.0, 0
    findings: dict[Finding, str] = {}
    asked = [(way.render(draft_of(text)), way.form) for way, text in product(ways, (_TRUE, _FALSE))]
    if binding.structured_output is StructuredOutput.JSON_SCHEMA:
        asked.append((_PROSE, ways[0].form))
    for prompt, form in asked:
        began = clock()
        calls += 1
        try:
            reply = await model.ask(Question(criterion_id, prompt, form.schema, draft_of(_TRUE)), deadline=began + 3600)
        except ModelError as error:
            findings |= _of_error(error)
            break
        finally:
            slowest_s = max(slowest_s, clock() - began)
        replies.append(reply)
        findings |= found_in(reply, binding=binding, clauses=clauses, form=form, plea=prompt is _PROSE)
    if slowest_s > _SLOW_SHARE * binding.attempt_timeout_s:
        findings[Finding.SLOW] = f"{slowest_s:.1f} s of the {binding.attempt_timeout_s:g} s of an attempt"
    return Probe(
        calls, slowest_s * 1000, findings, _cost(replies, calls, price), replies[-1].model if replies else None
    )


def _of_error(error: ModelError) -> dict[Finding, str]:
    """The finding says the cause; where it stands for several of them, its detail does."""
    if error.cause in _BY_CAUSE:
        return {_BY_CAUSE[error.cause]: error.detail}
    return {Finding.NO_ANSWER: str(error)}


def draft_of(text: str) -> Draft:
    sheet = ContextItem(role="target", metadata=dict(_SHEET))
    context = Context(instruction="Describe the product from its sheet, and from it alone.", items=(sheet,))
    return Draft(item_id="assay-probe", text=text, rival=_RIVAL, context=context)


def found_in(
    reply: Reply, *, binding: ModelBinding, clauses: Collection[str], form: VerdictForm, plea: bool
) -> dict[Finding, str]:
    """What one reply shows; whether its verdict is right is no matter here. ``plea``: it was asked for in prose."""
    found: dict[Finding, str] = {}
    parsed = read(reply, clauses=clauses, form=form)
    if parsed.cause in _BY_CAUSE and parsed.reason is None:
        unstructured = plea and parsed.cause in (Cause.UNPARSEABLE, Cause.REFUSED)
        found[Finding.NO_STRUCTURED_OUTPUT if unstructured else _BY_CAUSE[parsed.cause]] = parsed.detail or ""
    if reply.input_tokens is None or reply.output_tokens is None:
        found[Finding.USAGE_MISSING] = "the endpoint does not say how many tokens it took: costs stay unknown"
    if reply.model is not None and reply.model != binding.model:
        found[Finding.MODEL_MISMATCH] = f"served: {reply.model!r:.80}"
    if binding.logprobs and not plea and reply.label_probability is None:
        found[Finding.NO_LOGPROBS] = reply.label_probability_absent or ""
    return found


def _cost(replies: list[Reply], calls: int, price: Price | None) -> float | None:
    costs = [cost_usd(price, input_tokens=one.input_tokens, output_tokens=one.output_tokens) for one in replies]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == calls else None
