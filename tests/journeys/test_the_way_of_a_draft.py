"""One draft's way to its end, through real topics: served, revised, dropped, undecided, in shadow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schemas.decisions import Decision, HumanQueueItem, ItemDecision, ServedOutput, ServedStatus
from schemas.revisions import RevisionRequest
from schemas.telemetry import AttemptRecord
from schemas.topics import SERVED
from schemas.verdict_space import Cause
from schemas.verdicts import AttemptOutcome, DraftVerdict
from tests.journeys.scene import CRITERION, FAIL, PASS, draft, one_judge_bom, revised, scene
from workers.embedded.services import ChildServices

pytestmark = pytest.mark.anyio

Unique = Callable[[str], str]
WRONG = {"contains": "wrong", "reply": FAIL}


async def test_a_good_draft_is_served(services: ChildServices, unique: Unique, tmp_path: Path) -> None:
    async with scene(services, unique("served"), bom=one_judge_bom(tmp_path)) as on:
        await on.publish(draft("sku-1", slices=("new_item",)))
        await on.until(lambda: bool(on.said(ItemDecision) and on.said(ServedOutput)))
        (verdict,), (record,) = on.said(DraftVerdict), on.said(AttemptRecord)
        (served,), (decision,) = on.said(ServedOutput), on.said(ItemDecision)
    assert (served.status, served.text, served.decision) == ("served", "A red kettle.", "served_first_pass")
    assert decision.decision is Decision.SERVED_FIRST_PASS
    assert verdict.round_id == record.round_id == served.round_id == decision.round_id == verdict.draft_event_id
    assert {verdict.bom_version, record.bom_version, served.bom_version, decision.bom_version} == {verdict.bom_version}
    assert (verdict.slices, decision.slices) == (("new_item",), ("new_item",))


async def test_a_failed_draft_is_revised_and_then_served(
    services: ChildServices, unique: Unique, tmp_path: Path
) -> None:
    async with scene(services, unique("revised"), bom=one_judge_bom(tmp_path, WRONG)) as on:
        await on.publish(draft("sku-1", "A wrong kettle."))
        await on.until(lambda: bool(on.said(RevisionRequest)))
        (request,) = on.said(RevisionRequest)
        assert (request.notes[0].criterion_id, request.notes[0].evidence_spans) == (CRITERION, ("wrong",))
        assert not on.said(ItemDecision)
        assert not on.said(ServedOutput)
        await on.publish(revised(request, "A right kettle."))
        await on.until(lambda: bool(on.said(ItemDecision) and on.said(ServedOutput)))
        (served,), (decision,) = on.said(ServedOutput), on.said(ItemDecision)
        assert [verdict.outcome for verdict in on.said(DraftVerdict)] == [AttemptOutcome.REVISE, AttemptOutcome.SERVE]
    assert (served.text, served.attempt) == ("A right kettle.", 1)
    assert (decision.decision, decision.attempt) == (Decision.SERVED_AFTER_REVISION, 1)
    assert decision.round_id == request.round_id


@pytest.mark.parametrize(
    ("on_drop", "released"),
    [
        ("fallback_template", ServedStatus.FALLBACK),
        ("human_queue", "human_queue"),
        ("last_approved", "last_approved"),
        ("none", "nothing"),
    ],
)
async def test_a_draft_out_of_budget_is_dropped_as_the_charter_says(
    services: ChildServices, unique: Unique, tmp_path: Path, on_drop: str, released: str
) -> None:
    bom = one_judge_bom(tmp_path, WRONG, charter={"retry_budget": 0, "on_drop": on_drop})
    async with scene(services, unique("dropped"), bom=bom) as on:
        await on.publish(draft("sku-1"))
        await on.publish(draft("sku-1", "A wrong kettle."))
        await on.until(lambda: len(on.said(ItemDecision)) == 2)
        await on.until(lambda: len(on.said(ServedOutput)) == 1 + (on_drop == "fallback_template"))
        await on.until(lambda: len(on.said(HumanQueueItem)) == (on_drop == "human_queue"))
        first, last = on.said(ItemDecision)
        shown, queued = on.said(ServedOutput), on.said(HumanQueueItem)
        assert not on.said(RevisionRequest)
    assert (first.decision, last.decision, last.released) == (Decision.SERVED_FIRST_PASS, Decision.DROPPED, released)
    assert all("wrong" not in output.text for output in shown)
    assert (shown[-1].status, shown[-1].text == "A red kettle.") == (
        (ServedStatus.FALLBACK, False) if on_drop == "fallback_template" else (ServedStatus.SERVED, True)
    )
    assert [item.text for item in queued] == (["A wrong kettle."] if on_drop == "human_queue" else [])


MODEL_FAILS = [
    Cause.TIMEOUT, Cause.RATE_LIMITED, Cause.UNREACHABLE, Cause.CONNECTION_LOST, Cause.PROVIDER_ERROR,
    Cause.UNAUTHORIZED, Cause.BAD_REQUEST, Cause.REPLY_TOO_LARGE,
]  # fmt: skip
REPLIES: dict[Cause, dict[str, Any]] = {
    Cause.UNPARSEABLE: {"reply": "**pass**"},
    Cause.REFUSED: {"reply": PASS, "finish_reason": "content_filter"},
    Cause.TRUNCATED: {"reply": "", "finish_reason": "length"},
}


async def test_what_is_undecided_is_never_served_and_every_cause_is_counted_apart(
    services: ChildServices, unique: Unique, tmp_path: Path
) -> None:
    answers = {**{cause: {"error": str(cause)} for cause in MODEL_FAILS}, **REPLIES}
    cases = [{"contains": f"<{cause}>", **answer} for cause, answer in answers.items()]
    drafts = {cause: draft(str(cause), f"The kettle <{cause}>.") for cause in answers}
    drafts[Cause.NO_INSTRUCTION] = draft("no_instruction", context={"instruction": " "})
    drafts[Cause.UNREADABLE_CONTEXT] = draft(
        "unreadable_context", context={"instruction": "x", "items": [{"role": "target", "metadata": None}]}
    )
    drafts[Cause.OVERSIZE] = draft("oversize", "A kettle. " * 20)
    drafts[Cause.SAME_FAMILY] = draft("same_family", generator_model="scripted-writer@1")
    bom = one_judge_bom(tmp_path, *cases, decision={"max_draft_chars": 150})
    async with scene(services, unique("undecided"), bom=bom) as on:
        await on.publish(*drafts.values(), draft("good"))
        await on.until(lambda: len(on.said(ItemDecision)) == len(drafts) + 1)
        decisions = {decision.item_id: decision for decision in on.said(ItemDecision)}
        metrics = await on.fetch("judge", "/metrics")
        await on.until(lambda: bool(on.records(SERVED)))
        assert [output.item_id for output in on.said(ServedOutput)] == ["good"]
        assert not on.said(RevisionRequest)
    for cause in drafts:
        assert decisions[cause].decision is Decision.UNDECIDED
        assert decisions[cause].causes == {CRITERION: cause}
        assert f'assay_non_decisions_total{{cause="{cause}",criterion="{CRITERION}"}} 1.0' in metrics
    assert "assay_decisions_total" in metrics
    assert f'assay_decisions_total{{decision="undecided"}} {len(drafts)}.0' in metrics
    assert f'assay_verdicts_total{{criterion="{CRITERION}",label="fail"}}' not in metrics


async def test_a_cached_pass_does_not_serve_the_judges_own_family(
    services: ChildServices, unique: Unique, tmp_path: Path
) -> None:
    text = "A kettle for the whole family."
    async with scene(services, unique("family"), bom=one_judge_bom(tmp_path)) as on:
        await on.publish(draft("of-gen", text, generator_model="gen-writer@1"))
        await on.until(lambda: bool(on.said(ItemDecision)))
        await on.publish(
            draft("own", text, generator_model="scripted-writer@1"), draft("again", text, generator_model="gen-2")
        )
        await on.until(lambda: len(on.said(ItemDecision)) == 3)
        decisions = {decision.item_id: decision for decision in on.said(ItemDecision)}
        cached = {record.item_id: record.cached_verdicts for record in on.said(AttemptRecord)}
    assert decisions["own"].causes == {CRITERION: Cause.SAME_FAMILY}
    assert cached == {"of-gen": 0, "own": 0, "again": 1}


async def test_in_shadow_mode_the_first_draft_is_served_untouched_while_the_loop_runs_to_its_end(
    services: ChildServices, unique: Unique, tmp_path: Path
) -> None:
    bom = one_judge_bom(tmp_path, WRONG, decision={"enforced_share": 0.0})
    async with scene(services, unique("shadow"), bom=bom) as on:
        await on.publish(draft("sku-1", "A wrong kettle."))
        await on.until(lambda: bool(on.said(RevisionRequest) and on.said(ServedOutput)))
        await on.publish(revised(on.said(RevisionRequest)[0], "A right kettle."))
        await on.until(lambda: bool(on.said(ItemDecision)))
        (served,), (decision,) = on.said(ServedOutput), on.said(ItemDecision)
    assert (served.text, served.enforced, served.decision) == ("A wrong kettle.", False, None)
    assert (decision.decision, decision.enforced) == (Decision.SERVED_AFTER_REVISION, False)


async def test_500_drafts_at_once_get_500_decisions(services: ChildServices, unique: Unique, tmp_path: Path) -> None:
    async with scene(services, unique("many"), bom=one_judge_bom(tmp_path), concurrency=100, window=200) as on:
        await on.publish(*(draft(f"sku-{n}", f"Kettle number {n}.") for n in range(500)))
        await on.until(lambda: len(on.said(ItemDecision)) >= 500 and len(on.said(ServedOutput)) >= 500)
        decided = Counter(decision.item_id for decision in on.said(ItemDecision))
        texts = {output.item_id: output.text for output in on.said(ServedOutput)}
    assert (len(decided), set(decided.values())) == (500, {1})
    assert texts == {f"sku-{n}": f"Kettle number {n}." for n in range(500)}
