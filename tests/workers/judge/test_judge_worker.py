"""One draft's way through the judge worker: which messages come out, for every outcome and fallback."""

from __future__ import annotations

from typing import Any, TypeVar

import pytest

from schemas.bom import Bom, OnDrop, OnJudgeUnavailable
from schemas.codec import decode, encode
from schemas.decisions import Decision, HumanQueueItem, ItemDecision, ServedOutput, ServedStatus
from schemas.drafts import Draft
from schemas.errors import BadMessage, BadMessageKind
from schemas.message import Message
from schemas.telemetry import AttemptRecord
from schemas.topics import topic_of
from schemas.verdict_space import Cause, Flag, Label
from schemas.verdicts import AttemptOutcome, CriterionVerdict, DraftVerdict, Usage
from tests.workers.judge.specimens import BOM, NOW, bom_with, draft, said
from workers.judge.hedging import ENGLISH
from workers.judge.instrument import CriterionJudge, Instrument
from workers.judge.worker import JudgeWorker
from workers.runtime.origin import Origin

M = TypeVar("M", bound=Message)
ORIGIN = Origin("event-1", "kafka://assay.drafts/0/7")
PASS_ALL = {"a": Label.PASS, "b": Label.PASS}
FAIL_ONE = {"a": Label.PASS, "b": Label.FAIL}
UNDECIDED = {"a": Label.PASS, "b": Label.ABSTAIN}


class Says:
    """A judge that says one thing."""

    def __init__(self, verdict: CriterionVerdict) -> None:
        self.verdict, self.criterion_id = verdict, verdict.criterion_id

    async def judge(self, draft: Draft, *, deadline: float) -> CriterionVerdict:
        return self.verdict


async def judge(bom: Bom, given: Draft, labels: dict[str, Label], **more: Any) -> list[Message]:
    judges = [CriterionJudge(c, rules=None, model=Says(said(c, label, **more))) for c, label in labels.items()]
    worker = JudgeWorker(bom, Instrument(judges, deadline_s=5), now=lambda: NOW)
    messages = await worker(given, ORIGIN)
    for message in messages:  # they are built without validation: readers must find them valid, and equal
        assert decode(topic_of(message), encode(message)).message == message
    return messages


def one(messages: list[Message], kind: type[M]) -> M:
    (found,) = (m for m in messages if isinstance(m, kind))
    return found


def kinds(messages: list[Message]) -> list[str]:
    return [m.type for m in messages]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("attempt", "decision"), [(0, Decision.SERVED_FIRST_PASS), (1, Decision.SERVED_AFTER_REVISION)]
)
async def test_a_pass_is_served_with_its_stratum(attempt: int, decision: Decision) -> None:
    out = await judge(BOM, draft(attempt), PASS_ALL)
    assert kinds(out) == ["draft_verdict", "attempt_record", "served_output", "item_decision"]
    served = one(out, ServedOutput)
    assert (served.text, served.decision, served.enforced) == ("A red kettle.", decision, True)
    assert one(out, ItemDecision).decision is decision
    assert served.round_id == ("event-1" if attempt == 0 else "round-1")


@pytest.mark.anyio
async def test_a_fail_within_the_budget_asks_for_a_revision_and_shows_nothing() -> None:
    out = await judge(BOM, draft(1), FAIL_ONE)
    assert kinds(out) == ["draft_verdict", "attempt_record"]
    assert one(out, DraftVerdict).outcome is AttemptOutcome.REVISE


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("on_drop", "messages", "released"),
    [
        (OnDrop.NONE, [], "nothing"),
        (OnDrop.LAST_APPROVED, [], "last_approved"),
        (OnDrop.FALLBACK_TEMPLATE, ["served_output"], ServedStatus.FALLBACK),
        (OnDrop.HUMAN_QUEUE, ["human_queue_item"], "human_queue"),
    ],
)
async def test_a_drop_is_handled_as_the_charter_says(on_drop: OnDrop, messages: list[str], released: str) -> None:
    out = await judge(bom_with(on_drop=on_drop), draft(2), FAIL_ONE)
    assert kinds(out) == ["draft_verdict", "attempt_record", *messages, "item_decision"]
    ended = one(out, ItemDecision)
    assert (ended.decision, ended.released) == (Decision.DROPPED, released)


@pytest.mark.anyio
async def test_the_fallback_text_is_the_filled_template_and_never_the_draft() -> None:
    out = await judge(bom_with(on_drop=OnDrop.FALLBACK_TEMPLATE), draft(2), FAIL_ONE)
    served = one(out, ServedOutput)
    assert (served.status, served.text) == (ServedStatus.FALLBACK, "Kettle: see the specifications.")


@pytest.mark.anyio
async def test_a_fallback_that_cannot_be_filled_shows_nothing_and_says_so() -> None:
    bare = draft(2, context={"instruction": "Describe."})
    out = await judge(bom_with(on_drop=OnDrop.FALLBACK_TEMPLATE), bare, FAIL_ONE)
    assert kinds(out) == ["draft_verdict", "attempt_record", "item_decision"]
    assert one(out, AttemptRecord).flags == (Flag.FALLBACK_UNAVAILABLE,)


@pytest.mark.anyio
async def test_the_human_queue_gets_text_context_and_verdicts() -> None:
    queued = one(await judge(bom_with(on_drop=OnDrop.HUMAN_QUEUE), draft(2), FAIL_ONE), HumanQueueItem)
    assert queued.text == "A red kettle."
    assert [v.label for v in queued.verdicts] == [Label.PASS, Label.FAIL]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("policy", "released"),
    [(OnJudgeUnavailable.FAIL_CLOSED, "nothing"), (OnJudgeUnavailable.SERVE_LAST_APPROVED, "last_approved")],
)
@pytest.mark.parametrize("attempt", [0, 2])
async def test_an_undecided_draft_is_never_served(policy: OnJudgeUnavailable, released: str, attempt: int) -> None:
    out = await judge(bom_with(on_judge_unavailable=policy), draft(attempt), UNDECIDED)
    assert kinds(out) == ["draft_verdict", "attempt_record", "item_decision"]
    ended = one(out, ItemDecision)
    assert (ended.decision, ended.released, ended.causes) == (Decision.UNDECIDED, released, {"b": Cause.TIMEOUT})


@pytest.mark.anyio
@pytest.mark.parametrize("labels", [PASS_ALL, FAIL_ONE, UNDECIDED])
async def test_in_shadow_mode_the_first_draft_is_served_whatever_the_judge_says(labels: dict[str, Label]) -> None:
    out = await judge(bom_with(share=0.0, on_drop=OnDrop.FALLBACK_TEMPLATE), draft(0), labels)
    served = one(out, ServedOutput)
    assert (served.text, served.decision, served.enforced) == ("A red kettle.", None, False)


@pytest.mark.anyio
async def test_in_shadow_mode_later_drafts_are_judged_and_not_served() -> None:
    out = await judge(bom_with(share=0.0, on_drop=OnDrop.FALLBACK_TEMPLATE), draft(2), FAIL_ONE)
    assert kinds(out) == ["draft_verdict", "attempt_record", "item_decision"]
    ended = one(out, ItemDecision)
    assert (ended.enforced, ended.decision) == (False, Decision.DROPPED)


@pytest.mark.anyio
async def test_a_replayed_cause_repeats_every_event_id() -> None:
    first = await judge(bom_with(on_drop=OnDrop.FALLBACK_TEMPLATE), draft(2), FAIL_ONE)
    again = await judge(bom_with(on_drop=OnDrop.FALLBACK_TEMPLATE), draft(2), FAIL_ONE)
    ids = [m.event_id for m in first]  # type: ignore[attr-defined]
    assert ids == [m.event_id for m in again]  # type: ignore[attr-defined]
    assert len(set(ids)) == len(ids)


@pytest.mark.anyio
@pytest.mark.parametrize(("attempt", "changes"), [(3, {}), (1, {"revises": None})])
async def test_an_impossible_attempt_is_a_bad_message(attempt: int, changes: dict[str, Any]) -> None:
    with pytest.raises(BadMessage) as caught:
        await judge(BOM, draft(attempt, **changes), PASS_ALL)
    assert caught.value.kind is BadMessageKind.BAD_ATTEMPT


@pytest.mark.anyio
async def test_the_attempt_record_has_what_the_seed_shows() -> None:
    """S2 8.4: attempt, hash, place, outcome, BOM and excerpt, generator, verdicts, latency, cost."""
    record = one(await judge(BOM, draft(1, generator_model="g@1", slices=["new_item"]), FAIL_ONE), AttemptRecord)
    assert (record.attempt, record.attempt_outcome, record.bom_version) == (1, AttemptOutcome.REVISE, "bom-test")
    assert record.draft_uri == "kafka://assay.drafts/0/7"
    assert (record.bom.guideline, record.bom.retry_budget) == ("2026.11.1", 2)
    assert (record.generator_model, record.slices, record.revision_id) == ("g@1", ("new_item",), "rev-1")
    assert (record.cost_usd, record.input_tokens, record.model_calls) == (1.0, 20, 2)
    assert record.latency_ms >= 0


@pytest.mark.anyio
async def test_one_unknown_cost_makes_the_whole_cost_unknown_and_never_zero() -> None:
    record = one(await judge(BOM, draft(), PASS_ALL, usage=Usage(calls=1, cost_usd=None)), AttemptRecord)
    assert record.cost_usd is None
    assert record.input_tokens is None


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("created_at", "flags"),
    [
        ("2026-11-30T12:10:00Z", (Flag.TIME_ANOMALY,)),
        ("2025-11-30T12:00:00Z", (Flag.TIME_ANOMALY,)),
        ("2026-11-30T11:59:00Z", ()),
        (None, ()),
    ],
)
async def test_a_draft_with_an_odd_date_is_judged_and_flagged(created_at: str | None, flags: tuple[Flag, ...]) -> None:
    out = await judge(BOM, draft(created_at=created_at), PASS_ALL)
    assert one(out, AttemptRecord).flags == flags
    assert one(out, ServedOutput)


@pytest.mark.anyio
async def test_a_judge_that_never_answers_is_cut_off_and_undecided() -> None:
    import asyncio

    class Hangs(Says):
        async def judge(self, draft: Draft, *, deadline: float) -> CriterionVerdict:
            await asyncio.sleep(3600)
            raise AssertionError

    judges = [
        CriterionJudge("a", rules=None, model=Says(said("a", Label.PASS))),
        CriterionJudge("b", rules=None, model=Hangs(said("b", Label.PASS))),
    ]
    verdicts = await Instrument(judges, deadline_s=-0.95).judge(draft())
    assert [(v.label, v.cause) for v in verdicts] == [(Label.PASS, None), (Label.ABSTAIN, Cause.TIMEOUT)]


@pytest.mark.anyio
async def test_a_criterion_that_nothing_judges_is_not_implemented() -> None:
    (verdict,) = await Instrument([CriterionJudge("a", rules=None, model=None)], deadline_s=1).judge(draft())
    assert (verdict.label, verdict.cause) == (Label.NOT_IMPLEMENTED, Cause.NOT_BOUND)


AUDITED = {"a": Label.PASS, "b": Label.FAIL}


async def with_audit(bom: Bom, given: Draft, labels: dict[str, Label]) -> list[Message]:
    gate, audit = (
        Instrument(
            [CriterionJudge(c, rules=None, model=Says(said(c, label))) for c, label in all_.items()], deadline_s=5
        )
        for all_ in (labels, AUDITED)
    )
    return await JudgeWorker(bom, gate, audit=audit, now=lambda: NOW)(given, ORIGIN)


@pytest.mark.anyio
async def test_an_audit_of_what_is_served_changes_nothing_but_the_record() -> None:
    audited, plain = await with_audit(BOM, draft(), PASS_ALL), await judge(BOM, draft(), PASS_ALL)
    record = one(audited, AttemptRecord)
    assert [v.label for v in record.audit] == [Label.PASS, Label.FAIL]
    before = one(plain, AttemptRecord)
    assert (record.cost_usd, record.model_calls, record.verdicts) == (
        before.cost_usd, before.model_calls, before.verdicts,
    )  # fmt: skip
    assert [m for m in audited if m is not record] == [m for m in plain if m is not before]


@pytest.mark.anyio
@pytest.mark.parametrize("labels", [FAIL_ONE, UNDECIDED])
async def test_what_is_not_served_is_not_audited_and_what_is_served_untouched_is(labels: dict[str, Label]) -> None:
    assert one(await with_audit(BOM, draft(), labels), AttemptRecord).audit == ()
    shadow = bom_with(share=0.0)
    assert len(one(await with_audit(shadow, draft(), labels), AttemptRecord).audit) == 2
    assert one(await with_audit(shadow, draft(1), PASS_ALL), AttemptRecord).audit == ()


@pytest.mark.anyio
async def test_hedging_words_of_served_texts_are_counted_where_they_are_named_and_no_word_is_kept() -> None:
    """By hand: "about", "perhaps" among the six words."""
    text = draft().model_copy(update={"text": "Holds about one litre, perhaps perilously."})

    async def hedging(labels: dict[str, Label], hedges: frozenset[str]) -> tuple[int, int] | None:
        judges = [CriterionJudge(c, rules=None, model=Says(said(c, label))) for c, label in labels.items()]
        worker = JudgeWorker(BOM, Instrument(judges, deadline_s=5), now=lambda: NOW, hedges=hedges)
        record = one(await worker(text, ORIGIN), AttemptRecord)
        assert "perilously" not in record.model_dump_json()
        return record.hedging

    assert await hedging(PASS_ALL, ENGLISH) == (2, 6)
    assert await hedging(FAIL_ONE, ENGLISH) is None
    assert await hedging(PASS_ALL, frozenset()) is None
