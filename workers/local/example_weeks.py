"""Six weeks as the workers, raters and the canary would tell them, to see a filled report without a deployment.

The judge is good until the Wednesday of the last closed week; then its vendor changes the model, and it misses more
defects. Everybody is right with a known probability; nothing is read and no model is asked. Pure.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from schemas.bom import Bom
from schemas.canary import CanaryRun, CanaryVerdict
from schemas.decisions import Decision, ItemDecision, ServedStatus
from schemas.ids import event_id, sha256_text
from schemas.labels import HumanLabel, HumanVote, SampledItem, TaskKind
from schemas.message import Message
from schemas.telemetry import AttemptRecord, BomExcerpt
from schemas.verdict_space import Cause, Label
from schemas.verdicts import AttemptOutcome, CriterionVerdict, Usage

WEEKS = 6
_WEDNESDAY = timedelta(days=2)
_OUTCOMES = {
    AttemptOutcome.DROP: Decision.DROPPED,
    AttemptOutcome.UNDECIDED: Decision.UNDECIDED,
}


class Accuracy(NamedTuple):
    """Spec: share of bad texts failed; Rec: share of good texts passed."""

    spec: float
    rec: float


class Terms(NamedTuple):
    """How the example's people and machines behave. Probabilities, and numbers a week."""

    items: int = 600
    bad: float = 0.08  # first drafts, on one criterion
    fixed: float = 0.6  # a bad draft's next attempt is good
    unfixable: float = 0.09  # of the items: one criterion stays bad, for its data are missing
    judge: Accuracy = Accuracy(0.97, 0.97)
    changed_judge: Accuracy = Accuracy(0.62, 0.97)
    rater: Accuracy = Accuracy(0.95, 0.97)
    abstains: float = 0.006
    labels: int = 100  # of each stratum
    gold: int = 36
    raters: int = 3
    canary_items: int = 120
    canary_noise: float = 0.01
    canary_changed: float = 0.16


class _Told(NamedTuple):
    """One attempt's truth and verdicts, criterion by criterion."""

    bad: Mapping[str, bool]
    labels: Mapping[str, Label]


def example_weeks(bom: Bom, *, first_monday: datetime, rng: random.Random, terms: Terms = Terms()) -> Iterator[Message]:  # noqa: B008
    """Messages in the order of their weeks; the labels of a week follow it."""
    criteria = [criterion.id for criterion in bom.charter.criteria.must_have]
    for week in range(WEEKS):
        yield from _Week(bom, criteria, first_monday + timedelta(weeks=week), week, rng, terms).messages()


class _Week:
    def __init__(
        self, bom: Bom, criteria: Sequence[str], monday: datetime, number: int, rng: random.Random, terms: Terms
    ) -> None:
        self._bom, self._criteria, self._monday, self._number = bom, criteria, monday, number
        self._rng, self._terms = rng, terms
        self._changed_at = monday + _WEDNESDAY if number == WEEKS - 1 else None
        self._drawn: dict[Decision, list[tuple[AttemptRecord, _Told]]] = {}
        self._excerpt = BomExcerpt(
            name=bom.charter.name, guideline="example", judge_template="example", rubrics={}, judge_models={},
            retry_budget=bom.charter.retry_budget,
        )  # fmt: skip

    def messages(self) -> Iterator[Message]:
        for number in range(self._terms.items):
            yield from self._item(number)
        yield from self._labels()
        yield from self._gold()
        for day in range(7):
            yield self._canary(self._monday + timedelta(days=day, hours=4))

    def _judge_at(self, at: datetime) -> Accuracy:
        changed = self._changed_at is not None and at >= self._changed_at
        return self._terms.changed_judge if changed else self._terms.judge

    def _item(self, number: int) -> Iterator[Message]:
        item = f"example-{self._number}-{number}"
        at = self._monday + timedelta(seconds=number * 7 * 86_400 / self._terms.items)
        new = self._rng.random() < 0.15
        generator = "copywriter@2026-11" if self._number == WEEKS - 1 and number % 4 == 0 else "copywriter@2026-08"
        odds = self._terms.bad * (1.4 if new else 1.0)
        bad = {criterion: self._rng.random() < odds for criterion in self._criteria}
        stuck = self._rng.choice(self._criteria) if self._rng.random() < self._terms.unfixable else None
        for attempt in range(self._bom.charter.retry_budget + 1):
            bad = {c: was or c == stuck for c, was in bad.items()}
            told = _Told(bad, {c: self._said(bad[c], self._judge_at(at)) for c in self._criteria})
            record = self._attempt(item, attempt, told, at, generator, ("new_item",) if new else ())
            yield record
            if record.attempt_outcome is not AttemptOutcome.REVISE:
                decision = _decision(record)
                self._drawn.setdefault(decision.decision, []).append((record, told))
                yield decision
                return
            at += timedelta(minutes=2)
            bad = {c: was and self._rng.random() >= self._terms.fixed for c, was in bad.items()}

    def _said(self, bad: bool, judge: Accuracy) -> Label:
        if self._rng.random() < self._terms.abstains:
            return Label.ABSTAIN
        right = self._rng.random() < (judge.spec if bad else judge.rec)
        return Label.FAIL if bad is right else Label.PASS

    def _attempt(
        self, item: str, attempt: int, told: _Told, at: datetime, generator: str, slices: tuple[str, ...]
    ) -> AttemptRecord:
        causes = (Cause.TIMEOUT, Cause.TIMEOUT, Cause.TIMEOUT, Cause.RATE_LIMITED, Cause.UNPARSEABLE, Cause.REFUSED)
        verdicts = tuple(
            CriterionVerdict(
                criterion_id=c, label=label, judge="example-judge", usage=Usage(),
                cause=None if label.decided else self._rng.choice(causes),
            )
            for c, label in told.labels.items()
        )  # fmt: skip
        draft, judged = event_id("draft", item, attempt), sha256_text(f"{item}/{attempt}")
        tokens, chars = self._rng.randrange(900, 1_500), self._rng.randrange(180, 900)
        return AttemptRecord(
            event_id=event_id("attempt_record", draft), item_id=item, attempt=attempt,
            round_id=event_id("round", item), revision_id=None, draft_event_id=draft, draft_uri="kafka://example/0/0",
            draft_sha256=judged, judged_sha256=judged, draft_chars=chars,
            attempt_outcome=_gate(set(told.labels.values()), attempt, self._bom.charter.retry_budget),
            bom_version=self._bom.version, bom=self._excerpt, enforced=True, generator_model=generator, slices=slices,
            verdicts=verdicts, latency_ms=round(self._rng.lognormvariate(6.7, 0.45), 1), cost_usd=tokens * 1.1e-6,
            input_tokens=tokens, output_tokens=120, model_calls=len(verdicts), cached_verdicts=0, created_at=None,
            judged_at=at,
        )  # fmt: skip

    def _labels(self) -> Iterator[Message]:
        for stratum, rows in sorted(self._drawn.items()):
            if stratum is Decision.UNDECIDED:
                continue
            chosen = self._rng.sample(rows, min(self._terms.labels, len(rows)))
            for record, told in chosen:
                task = self._task(record, TaskKind.SAMPLE, told.labels, len(chosen) / len(rows))
                yield task
                for rater in range(self._terms.raters):
                    yield from (self._vote(task, f"rater-{rater + 1}", c, bad) for c, bad in told.bad.items())

    def _gold(self) -> Iterator[Message]:
        """Items with known answers, mixed in for every rater; each tells of one criterion."""
        for number in range(self._terms.gold):
            criterion, bad = self._criteria[number % len(self._criteria)], number % 2 == 0
            record, _ = self._drawn[Decision.SERVED_FIRST_PASS][number]
            known = {criterion: HumanVote.FAIL if bad else HumanVote.PASS}
            task = self._task(record, TaskKind.GOLD, {}, 1.0).model_copy(update={"gold_votes": known})
            yield task
            for rater in range(self._terms.raters):
                yield self._vote(task, f"rater-{rater + 1}", criterion, bad)

    def _task(
        self, record: AttemptRecord, kind: TaskKind, labels: Mapping[str, Label], inclusion: float
    ) -> SampledItem:
        year, week, _ = self._monday.isocalendar()
        stratum = _decision(record).decision
        return SampledItem(
            event_id=event_id("sampled", kind, record.event_id), item_id=record.item_id,
            task_id=event_id("task", kind, record.event_id), kind=kind, week=f"{year}-W{week:02d}",
            round_id=record.round_id, attempt=record.attempt, stratum=stratum, slices=record.slices,
            inclusion_probability=inclusion, bom_version=record.bom_version, judged_sha256=record.judged_sha256,
            judge_labels={c: str(label) for c, label in labels.items()},
            sampled_at=self._monday + timedelta(days=7, hours=1),
        )  # fmt: skip

    def _vote(self, task: SampledItem, rater: str, criterion: str, bad: bool) -> HumanLabel:
        right = self._rng.random() < (self._terms.rater.spec if bad else self._terms.rater.rec)
        return HumanLabel(
            item_id=task.item_id, task_id=task.task_id, criterion_id=criterion, rater_id=rater,
            vote=HumanVote.FAIL if bad is right else HumanVote.PASS, rationale="example", guideline_version="example",
            labelled_at=task.sampled_at + timedelta(hours=2),
        )  # fmt: skip

    def _canary(self, at: datetime) -> CanaryRun:
        changed = self._changed_at is not None and at >= self._changed_at
        flips = self._terms.canary_noise + self._terms.canary_changed * changed
        # A changed model flips the same items every day.
        fixed = random.Random(7) if changed else self._rng
        verdicts = tuple(
            CanaryVerdict(
                item_id=f"canary-{i}", criterion_id=self._criteria[i % len(self._criteria)], certified=Label.FAIL,
                label=Label.PASS if fixed.random() < (flips if changed or i % 10 else 0.0) else Label.FAIL,
                injection=i % 10 == 0,
            )
            for i in range(self._terms.canary_items)
        )  # fmt: skip
        return CanaryRun(
            event_id=event_id("canary", at.isoformat()), bom_version=self._bom.version, canary_digest="example",
            baseline_flip_rate=self._terms.canary_noise, threshold=5, verdicts=verdicts, started_at=at, ended_at=at,
        )  # fmt: skip


def _gate(labels: set[Label], attempt: int, retry_budget: int) -> AttemptOutcome:
    if Label.FAIL in labels:
        return AttemptOutcome.REVISE if attempt < retry_budget else AttemptOutcome.DROP
    return AttemptOutcome.SERVE if labels == {Label.PASS} else AttemptOutcome.UNDECIDED


def _decision(record: AttemptRecord) -> ItemDecision:
    served = Decision.SERVED_AFTER_REVISION if record.attempt else Decision.SERVED_FIRST_PASS
    decision = _OUTCOMES.get(record.attempt_outcome, served)
    return ItemDecision(
        event_id=event_id("item_decision", record.round_id), item_id=record.item_id, round_id=record.round_id,
        decision=decision, attempt=record.attempt, text_sha256=record.draft_sha256, judged_sha256=record.judged_sha256,
        draft_uri=record.draft_uri, bom_version=record.bom_version, enforced=True, released=ServedStatus.SERVED,
        generator_model=record.generator_model, slices=record.slices, decided_at=record.judged_at,
    )  # fmt: skip
