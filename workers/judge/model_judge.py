"""One criterion, judged by a model: ask, read totally, verify the quotes, and keep what was served."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from schemas.bom import ModelBinding
from schemas.drafts import Draft
from schemas.errors import ModelError
from schemas.verdict_space import Cause, Choice, Flag
from schemas.verdicts import CriterionVerdict, Served, Usage
from workers.judge.forms import BINARY, VerdictForm
from workers.judge.parsing import parse_reply
from workers.judge.pricing import Price, cost_usd
from workers.judge.protocols import Counters, Model, Prompt, Question, Reply
from workers.judge.reading import ParsedReply, abstain
from workers.judge.spans import verify_spans

_UNREAD = (Cause.UNPARSEABLE, Cause.REFUSED)


@dataclass(frozen=True, slots=True)
class Asked:
    """What asking came to: every reply in order, and the error that ended it, if one did."""

    replies: tuple[Reply, ...]
    error: ModelError | None
    latency_ms: float

    @property
    def calls(self) -> int:
        return sum(reply.calls for reply in self.replies) + (self.error.calls if self.error else 0)

    @property
    def last(self) -> Reply | None:
        return self.replies[-1] if self.replies else None


class ModelJudge:
    """Puts a draft before a model. Holds nothing between drafts, so that any number may be judged at the same time.

    ``render`` makes the prompt of a draft, ``form`` is what is asked for, ``clauses`` are those that the criterion may
    cite. ``clock`` is in seconds and measures latency.
    """

    def __init__(
        self,
        criterion_id: str,
        *,
        model: Model,
        binding: ModelBinding,
        render: Callable[[Draft], Prompt],
        form: VerdictForm,
        clauses: Collection[str],
        price: Price | None,
        counters: Counters,
        clock: Callable[[], float],
    ) -> None:
        self._criterion_id, self._model, self._binding, self._render = criterion_id, model, binding, render
        self._form, self._clauses = form, clauses
        self._price, self._counters, self._clock = price, counters, clock

    @property
    def criterion_id(self) -> str:
        return self._criterion_id

    async def judge(self, draft: Draft, *, deadline: float) -> CriterionVerdict:
        """A verdict, always: what a draft, a model or a reply holds ends in an abstain with its cause."""
        asked, parsed = await self._ask(draft, deadline)
        verdict = verdict_of(
            asked,
            parsed,
            draft.text,
            criterion_id=self._criterion_id,
            pinned=self._binding.model,
            price=self._price,
            form=self._form,
        )
        self._count(verdict)
        return verdict

    async def _ask(self, draft: Draft, deadline: float) -> tuple[Asked, ParsedReply[Any]]:
        """Asks once, and once more after an unreadable reply where the binding allows it."""
        form = self._form
        question = Question(self._criterion_id, self._render(draft), form.schema, draft, swapped=form.swapped)
        started = self._clock()
        replies: list[Reply] = []
        error: ModelError | None = None
        parsed: ParsedReply[Any]
        while True:
            try:
                replies.append(await self._model.ask(question, deadline=deadline))
            except ModelError as failed:
                error = failed
                parsed = abstain(failed.cause, failed.detail)
            else:
                parsed = read(replies[-1], clauses=self._clauses, form=form)
            if error or not unread(parsed) or len(replies) > self._binding.re_asks:
                return Asked(tuple(replies), error, (self._clock() - started) * 1000), parsed

    def _count(self, verdict: CriterionVerdict) -> None:
        criterion, usage = self._criterion_id, verdict.usage
        self._counters.count("model_calls", usage.calls, criterion=criterion)
        if verdict.cause is not None:
            self._counters.count("model_non_decisions", criterion=criterion, cause=verdict.cause)
        if usage.cost_usd is None:
            self._counters.count("model_cost_unknown", criterion=criterion)
        else:
            self._counters.count("model_cost_usd", usage.cost_usd, criterion=criterion)


def read(reply: Reply, *, clauses: Collection[str], form: VerdictForm = BINARY) -> ParsedReply[Any]:
    """What a reply says. Reasoning without an answer is a truncated reply, whatever its finish reason."""
    if reply.reasoned:
        return abstain(Cause.TRUNCATED, "reasoning and no answer")
    return parse_reply(
        reply.text,
        finish_reason=reply.finish_reason,
        refusal=reply.refusal,
        clauses=clauses,
        contract=form.contract,
    )


def unread(parsed: ParsedReply[Any]) -> bool:
    """True for a reply that may be asked for again; a judge that abstains in due form (with a reason) has answered."""
    return parsed.cause in _UNREAD and parsed.reason is None


def verdict_of(
    asked: Asked,
    parsed: ParsedReply[Any],
    text: str,
    *,
    criterion_id: str,
    pinned: str,
    price: Price | None,
    form: VerdictForm = BINARY,
) -> CriterionVerdict:
    """The verdict with what it took and what was served; quotes that are not in the draft are dropped and flagged."""
    said = form.said(parsed.label)
    # A comparison quotes the text that it finds worse: spans and clause of a rival that lost say nothing of the draft.
    about_draft = said.preference in (None, Choice.B)
    verified = verify_spans(parsed.spans if about_draft else (), text)
    found = {
        Flag.UNVERIFIED_SPAN: verified.dropped > 0,
        Flag.RE_ASKED: len(asked.replies) + (asked.error is not None) > 1,
        Flag.OVER_BUDGET: parsed.cause is Cause.OVER_BUDGET,
        Flag.MODEL_MISMATCH: any(reply.model not in (None, pinned) for reply in asked.replies),
    }
    return CriterionVerdict(
        criterion_id=criterion_id,
        label=said.label,
        cause=parsed.cause,
        detail=parsed.detail or None,
        reason=parsed.reason,
        evidence_spans=verified.spans,
        guideline_clause=parsed.clause if about_draft else None,
        judge=pinned,
        flags=(*parsed.flags, *(asked.last.flags if asked.last else ()), *(flag for flag, up in found.items() if up)),
        usage=usage_of(asked, price),
        served=served_of(asked.last),
        score=said.score,
        preference=said.preference,
    )


def usage_of(asked: Asked, price: Price | None) -> Usage:
    """Tokens of all replies together. A call that failed may have cost something nobody told us: unknown, not 0."""
    if asked.calls == 0:
        return Usage(input_tokens=0, output_tokens=0, cost_usd=0.0, latency_ms=asked.latency_ms)
    told = () if asked.error else asked.replies
    tokens_in = _total([reply.input_tokens for reply in told])
    tokens_out = _total([reply.output_tokens for reply in told])
    return Usage(
        calls=asked.calls,
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost_usd=cost_usd(price, input_tokens=tokens_in, output_tokens=tokens_out),
        latency_ms=asked.latency_ms,
    )


def served_of(reply: Reply | None) -> Served | None:
    if reply is None:
        return None
    return Served(
        model=reply.model,
        fingerprint=reply.fingerprint,
        finish_reason=reply.finish_reason,
        content_chars=len(reply.text or ""),
        label_probability=reply.label_probability,
        label_probability_absent=reply.label_probability_absent,
    )


def _total(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None
