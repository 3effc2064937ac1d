"""Topics after a short day: what the judge worker itself says of a few drafts, whose texts say how they are judged."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from schemas.dead_letter import DeadLetter
from schemas.decisions import ItemDecision, RoundAbandoned, ServedOutput, Withdrawal
from schemas.drafts import Context, ContextItem, Draft, Revises
from schemas.ids import event_id
from schemas.message import Message
from schemas.telemetry import AttemptRecord
from schemas.verdict_space import Cause, Label
from schemas.verdicts import CriterionVerdict
from workers.bom import load_bom, read_files
from workers.bom.example import example_bom
from workers.judge.worker import JudgeWorker
from workers.proof.claims import Claim, Kept, claims
from workers.proof.ledger import Ledger, Place
from workers.runtime.origin import Origin

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
TOPIC = "assay.drafts"
BOM = load_bom(read_files(example_bom()))
_CRITERIA = [criterion.id for criterion in BOM.charter.criteria.must_have]
_LABELS = {"PASS": (Label.PASS, None), "FAIL": (Label.FAIL, None), "NOTHING": (Label.ABSTAIN, Cause.TIMEOUT)}
_DESK = ContextItem(role="target", metadata={"name": "Orla Desk", "category": "desks"})


class _TextSays:
    async def judge(self, draft: Draft) -> tuple[CriterionVerdict, ...]:
        label, cause = _LABELS[draft.text.split()[0]]
        first = CriterionVerdict(criterion_id=_CRITERIA[0], label=label, cause=cause, judge="text")
        return (first, *(CriterionVerdict(criterion_id=name, label=Label.PASS, judge="text") for name in _CRITERIA[1:]))


_JUDGE = JudgeWorker(BOM, _TextSays(), now=lambda: NOW)  # type: ignore[arg-type]


@dataclass
class World:
    """Records in their order; a test changes one and asks which claim that contradicts."""

    drafts: dict[Place, Draft | None] = field(default_factory=dict)
    said: list[Message] = field(default_factory=list)
    letters: list[DeadLetter] = field(default_factory=list)
    done: int | None = None
    first: int = 0
    telemetry_cut: bool = False
    published: datetime = NOW

    def publish(self, item: str, *labels: str) -> None:
        """One round: a draft for each label, as far as a producer would come."""
        round_id = f"{item}-round"
        for attempt, label in enumerate(labels):
            revises = Revises(revision_id="x", round_id=round_id, judged_sha256="0" * 64) if attempt else None
            draft = Draft(
                item_id=item, attempt=attempt, text=f"{label} {item} {attempt}", revises=revises,
                context=Context(instruction="i", items=(_DESK,)),
            )  # fmt: skip
            place = (0, len(self.drafts))
            self.drafts[place] = draft
            cause = round_id if attempt == 0 else f"{item}-{attempt}"
            origin = Origin(event_id=cause, uri=f"kafka://{TOPIC}/0/{place[1]}")
            self.said += asyncio.run(_JUDGE(draft, origin))

    def set_aside(self) -> None:
        place = (0, len(self.drafts))
        self.drafts[place] = None
        self.letters.append(letter(place[1]))

    def change(self, kind: type[Message], which: Callable[[Message], bool], **update: object) -> None:
        """Replace the first such message by one that says something else."""
        at = next(n for n, message in enumerate(self.said) if isinstance(message, kind) and which(message))
        self.said[at] = self.said[at].model_copy(update=update)

    def drop(self, kind: type[Message], which: Callable[[Message], bool]) -> None:
        """Every such message is not there."""
        self.said = [message for message in self.said if not (isinstance(message, kind) and which(message))]

    def ledger(self) -> Ledger:
        ledger = Ledger(TOPIC)
        for place, draft in self.drafts.items():
            if place[1] >= self.first:
                ledger.draft(place, draft, published_ms=int(self.published.timestamp() * 1000))
        for one in self.letters:
            ledger.dead_letter(one)
        for message in self.said:
            if isinstance(message, AttemptRecord | ItemDecision | RoundAbandoned | ServedOutput | Withdrawal):
                ledger.add(message)
        return ledger

    def claims(self) -> dict[str, Claim]:
        done = len(self.drafts) if self.done is None else self.done
        kept = Kept({0: done}, {0: self.first}, telemetry_cut=self.telemetry_cut)
        return {claim.name: claim for claim in claims(self.ledger(), kept, now=NOW)}

    def broken(self) -> dict[str, list[str]]:
        return {name: claim.broken for name, claim in self.claims().items() if claim.broken}


def letter(offset: int, *, topic: str = TOPIC) -> DeadLetter:
    return DeadLetter(topic, 0, offset, "assay.judge", "judge", "not_json", "x", NOW.isoformat())


def short_day() -> World:
    """Served at once, after a revision, dropped, undecided, one unreadable, one waiting for an answer."""
    world = World()
    world.publish("first", "PASS")
    world.publish("second", "FAIL", "PASS")
    world.publish("dropped", "FAIL", "FAIL", "FAIL", "FAIL")
    world.publish("undecided", "NOTHING")
    world.set_aside()
    world.publish("open", "FAIL")
    return world


def withdrawal(item: str) -> Withdrawal:
    return Withdrawal(
        event_id=event_id("withdrawal", item), item_id=item, operator="ann", reason="wrong price", withdrawn_at=NOW
    )
