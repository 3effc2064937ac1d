"""Messages as the workers and raters say them, for the tests of what stats makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from schemas.canary import CanaryRun, CanaryVerdict
from schemas.decisions import Decision, ItemDecision, ServedStatus
from schemas.ids import event_id, sha256_text
from schemas.labels import HumanLabel, HumanVote, LabelStage, SampledItem, TaskKind
from schemas.revisions import revision_id_after
from schemas.telemetry import AttemptRecord, BomExcerpt
from schemas.verdict_space import Cause, Flag, Label
from schemas.verdicts import AttemptOutcome, CriterionVerdict, Usage
from workers.stats_consumer.weeks import pane_of, week_name

MONDAY = datetime(2026, 9, 7, 9, 0, tzinfo=UTC)
BOM = "bom-1"
_EXCERPT = BomExcerpt(name="b", guideline="g", judge_template="t", rubrics={}, judge_models={}, retry_budget=3)


def in_week(week: int, second: int = 0) -> datetime:
    """A moment of the ``week``-th week after MONDAY's."""
    return MONDAY + timedelta(weeks=week, seconds=second)


def round_of(item: str, restart: int = 0) -> str:
    return event_id("round", item, restart)


def attempt(
    item: str,
    number: int = 0,
    labels: Mapping[str, str] = {"c1": "pass"},
    *,
    outcome: str | None = None,
    at: datetime = MONDAY,
    bom: str = BOM,
    restart: int = 0,
    text: str = "text",
    generator: str | None = "gen",
    slices: Sequence[str] = (),
    causes: Mapping[str, Cause] | None = None,
    flags: Sequence[Flag] = (),
    chars: int = 200,
    latency_ms: float = 100.0,
    cost_usd: float | None = 0.001,
    audit: Mapping[str, str] | None = None,
    hedging: tuple[int, int] | None = None,
) -> AttemptRecord:
    """One attempt record; without ``outcome`` the gate's own word for a budget of 3."""
    if outcome is None:
        failed = "fail" in labels.values()
        outcome = ("revise" if number < 3 else "drop") if failed else "serve"
        outcome = "undecided" if not failed and set(labels.values()) != {"pass"} else outcome
    verdicts = _verdicts(labels, causes or {})
    draft_id = event_id("draft", item, restart, number, text)
    judged = sha256_text(f"{item}{text}{number}")
    asked = revision_id_after(*before(item, number, restart), bom) if number else None
    return AttemptRecord(
        event_id=event_id("attempt_record", draft_id, judged, bom), item_id=item, attempt=number,
        round_id=round_of(item, restart), revision_id=asked, draft_event_id=draft_id, draft_uri="kafka://d/0/0",
        draft_sha256=judged, judged_sha256=judged, draft_chars=chars, attempt_outcome=AttemptOutcome(outcome),
        bom_version=bom, bom=_EXCERPT, enforced=True, generator_model=generator, slices=tuple(slices),
        verdicts=verdicts, flags=tuple(flags), latency_ms=latency_ms, cost_usd=cost_usd, input_tokens=100,
        output_tokens=20, model_calls=len(verdicts), cached_verdicts=0, created_at=None, judged_at=at,
        audit=_verdicts(audit or {}, {}), hedging=hedging,
    )  # fmt: skip


def _verdicts(labels: Mapping[str, str], causes: Mapping[str, Cause]) -> tuple[CriterionVerdict, ...]:
    return tuple(
        CriterionVerdict(
            criterion_id=criterion, label=Label(label), judge="judge", usage=Usage(),
            cause=None if label in ("pass", "fail") else causes.get(criterion, Cause.TIMEOUT),
        )
        for criterion, label in labels.items()
    )  # fmt: skip


def before(item: str, number: int, restart: int) -> tuple[str, str]:
    """Event id and judged hash of the draft that attempt ``number`` mends."""
    return event_id("draft", item, restart, number - 1, "text"), sha256_text(f"{item}text{number - 1}")


def decided(
    item: str,
    decision: str = "served_first_pass",
    number: int = 0,
    *,
    at: datetime = MONDAY,
    bom: str = BOM,
    restart: int = 0,
    generator: str | None = "gen",
    slices: Sequence[str] = (),
) -> ItemDecision:
    judged = sha256_text(f"{item}text{number}")
    return ItemDecision(
        event_id=event_id("item_decision", item, restart, decision, number), item_id=item,
        round_id=round_of(item, restart), decision=Decision(decision), attempt=number, text_sha256=judged,
        judged_sha256=judged, draft_uri="kafka://d/0/0", bom_version=bom, enforced=True,
        released=ServedStatus.SERVED, generator_model=generator, slices=tuple(slices), decided_at=at,
    )  # fmt: skip


def sampled(
    item: str,
    judge: Mapping[str, str] = {"c1": "pass"},
    *,
    week: int = 0,
    stratum: str = "served_first_pass",
    number: int = 0,
    kind: str = "sample",
    bom: str = BOM,
    slices: Sequence[str] = (),
    inclusion: float = 1.0,
    known: Mapping[str, str] | None = None,
    restart: int = 0,
    clauses: Mapping[str, str] | None = None,
    confidence: Mapping[str, float] | None = None,
    audit: Mapping[str, str] | None = None,
    guidelines: str = "",
    citable: Sequence[str] = (),
) -> SampledItem:
    task = event_id("task", item, restart, number, kind)
    return SampledItem(
        event_id=event_id("sampled", task), item_id=item, task_id=task, kind=TaskKind(kind),
        week=week_name(pane_of(in_week(week))), round_id=round_of(item, restart), attempt=number,
        stratum=Decision(stratum), slices=tuple(slices), inclusion_probability=inclusion,
        gold_votes={c: HumanVote(v) for c, v in (known or {}).items()}, bom_version=bom,
        judged_sha256=sha256_text(item), judge_labels=dict(judge), sampled_at=in_week(week + 1),
        judge_clauses=dict(clauses or {}), judge_confidence=dict(confidence or {}), audit_labels=dict(audit or {}),
        guideline_version=guidelines, guideline_clauses=tuple(citable),
    )  # fmt: skip


def vote(
    item: str,
    rater: str,
    said: str,
    criterion: str = "c1",
    *,
    number: int = 0,
    kind: str = "sample",
    version: int = 0,
    retracted: bool = False,
    stage: str = "vote",
    at: datetime = MONDAY + timedelta(days=8),
    restart: int = 0,
    clause: str | None = None,
    guidelines: str = "g1",
) -> HumanLabel:
    return HumanLabel(
        item_id=item, task_id=event_id("task", item, restart, number, kind), criterion_id=criterion, rater_id=rater,
        vote=HumanVote(said), rationale="because", guideline_version=guidelines, stage=LabelStage(stage),
        version=version, retracted=retracted, labelled_at=at, clause=clause,
    )  # fmt: skip


def canary(
    flips: int,
    items: int = 150,
    *,
    at: datetime = MONDAY,
    baseline: float | None = 0.02,
    bom: str = BOM,
    first: int = 0,
) -> CanaryRun:
    """A run in which the items ``first`` .. ``first + flips`` came out otherwise than certified."""
    verdicts = tuple(
        CanaryVerdict(
            item_id=f"canary-{i}", criterion_id="c1", certified=Label.PASS,
            label=Label.FAIL if first <= i < first + flips else Label.PASS,
        )
        for i in range(items)
    )  # fmt: skip
    return CanaryRun(
        event_id=event_id("canary", at.isoformat(), flips), bom_version=bom, canary_digest="d",
        baseline_flip_rate=baseline, threshold=9, verdicts=verdicts, started_at=at, ended_at=at,
    )  # fmt: skip
