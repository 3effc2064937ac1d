"""The demo: sixty items judged, revised and served in one process, then once more from the cache."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from schemas.decisions import ItemDecision, ServedOutput
from schemas.drafts import Draft
from schemas.message import Message
from schemas.revisions import RevisionRequest
from schemas.telemetry import AttemptRecord
from schemas.topics import DEAD_LETTERS, DRAFTS, HUMAN_QUEUE, SERVED, TELEMETRY, VERDICTS
from workers.embedded.generator import revise
from workers.embedded.items import DemoItem, PoisonRecord
from workers.local.producer_loop import ProducerLoop
from workers.local.stage import Stage
from workers.proof.claims import Claim, claims
from workers.proof.gather import gather
from workers.runtime.records import InRecord, OutRecord
from workers.trace.collect import seen_in
from workers.trace.story import Seen

HEARD = (DRAFTS, VERDICTS, SERVED, TELEMETRY, HUMAN_QUEUE, DEAD_LETTERS)


@dataclass(slots=True)
class Board:
    """What the demo has seen so far. Everything in it came from the topics."""

    items: int
    poison: int
    decisions: dict[str, ItemDecision] = field(default_factory=dict)
    served: dict[str, ServedOutput] = field(default_factory=dict)
    attempts: int = 0
    dead_letters: int = 0
    model_calls: int = 0
    cached_verdicts: int = 0
    second_pass: int = 0
    labels: Counter[tuple[str, str]] = field(default_factory=Counter)
    seen: list[Seen] = field(default_factory=list)
    last: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)

    def strata(self) -> Counter[str]:
        return Counter(str(decision.decision) for decision in self.decisions.values())

    @property
    def first_pass_done(self) -> bool:
        return len(self.decisions) == self.items and self.dead_letters >= self.poison


class Demo:
    """Plays the producer: publishes the items and, as its generator, answers the revision requests."""

    def __init__(self, stage: Stage, items: Sequence[DemoItem], poison: Sequence[PoisonRecord]) -> None:
        self._stage, self._items, self._poison = stage, items, poison
        self._drafts: dict[str, Draft] = {}  # by judged hash: the producer's own memory of what it wrote
        self._second_pass_began: datetime | None = None
        self.board = Board(len(items), len(poison))

    async def run(self, changed: Callable[[], None]) -> Board:
        """The first pass, to every item's decision; then the first drafts of decided items once more."""
        first = [self._remembered(item.first_draft(now=_now())) for item in self._items]
        loop = ProducerLoop(
            self._stage, source="/assay/demo", answer=self._answer, heard=self._heard(changed), topics=HEARD, now=_now
        )
        await self._publish_poison()
        await loop.run(first, lambda: self.board.first_pass_done)
        self._second_pass_began = _now()
        again = [draft for draft in first if not self.board.decisions[draft.item_id].causes]
        await loop.run(again, lambda: self.board.second_pass >= len(again))
        self.board.claims = await self._proved()
        return self.board

    async def _proved(self) -> list[Claim]:
        """What the topics alone say of all this."""
        kafka, names, group = self._stage.kafka, self._stage.names, f"{self._stage.settings.group_prefix}judge"
        ledger, kept = await gather(kafka, names, group=group, read=lambda _: None)
        return claims(ledger, kept, now=_now())

    async def _publish_poison(self) -> None:
        topic = self._stage.names.full(DRAFTS)
        await self._stage.producer.produce(
            [OutRecord(topic, record.key.encode() or None, record.value) for record in self._poison]
        )

    def _remembered(self, draft: Draft) -> Draft:
        self._drafts[draft.judged_sha256] = draft
        return draft

    def _answer(self, request: RevisionRequest) -> Draft | None:
        if self._second_pass_began is not None:
            return None
        draft = revise(self._drafts[request.judged_sha256], request, now=_now())
        return self._remembered(draft) if draft is not None else None

    def _heard(self, changed: Callable[[], None]) -> Callable[[Message | None, InRecord], None]:
        def heard(message: Message | None, record: InRecord) -> None:
            if self._second_pass_began is None:
                self._count(message, record)
            else:
                self._count_again(message, self._second_pass_began)
            changed()

        return heard

    def _count(self, message: Message | None, record: InRecord) -> None:
        board = self.board
        if (seen := seen_in(record, self._stage.names)) is not None:
            board.seen.append(seen)
        match message:
            case AttemptRecord() as attempt:
                board.attempts += 1
                board.model_calls += attempt.model_calls
                board.labels.update((v.criterion_id, str(v.label)) for v in attempt.verdicts)
            case ItemDecision() as decision:
                board.decisions[decision.item_id] = decision
                board.last.append(f"{decision.item_id}  {decision.decision}  attempt {decision.attempt}")
            case ServedOutput() as served:
                board.served[served.item_id] = served
            case None if record.topic == self._stage.names.full(DEAD_LETTERS):
                board.dead_letters += 1
            case _:
                pass

    def _count_again(self, message: Message | None, began: datetime) -> None:
        """The reader begins at the beginning again: what was judged before the second pass is passed over."""
        if isinstance(message, AttemptRecord) and message.judged_at >= began:
            self.board.second_pass += 1
            self.board.cached_verdicts += message.cached_verdicts


def _now() -> datetime:
    return datetime.now(UTC)
