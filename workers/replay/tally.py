"""What a replay found: strata by attempt, beside what people said of the same texts. Counts nothing twice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from schemas.decisions import Decision, ItemDecision
from schemas.revisions import RevisionRequest
from schemas.telemetry import AttemptRecord
from workers.replay.recordings import HumanLabel, RecordedItem


class Summary(NamedTuple):
    """Arrays are K + 1 long; position = attempt at which the item was served."""

    items: int
    drafts_judged: int
    served_by_attempt: list[int]
    dropped: int
    undecided: int
    exhausted: int
    human_fail_by_attempt: list[int]
    human_undecided_by_attempt: list[int]


class Tally:
    """Folds telemetry of one BOM version until every item has ended."""

    def __init__(self, items: Iterable[RecordedItem], *, retry_budget: int, bom_version: str) -> None:
        self._items = {item.item_id: item for item in items}
        self._budget, self._bom_version = retry_budget, bom_version
        self._judged: set[tuple[str, int]] = set()
        self._ended: dict[str, tuple[Decision, int]] = {}
        self._ran_out: dict[str, int] = {}  # item -> the attempt that nothing followed

    def attempt(self, record: AttemptRecord) -> None:
        if self._ours(record.item_id, record.bom_version):
            self._judged.add((record.item_id, record.attempt))

    def decision(self, decision: ItemDecision) -> None:
        """The first decision of an item counts; a repeated one changes nothing."""
        if self._ours(decision.item_id, decision.bom_version):
            self._ended.setdefault(decision.item_id, (decision.decision, decision.attempt))

    def ran_out(self, request: RevisionRequest) -> None:
        """A request that no recorded draft answers ends the item."""
        if self._ours(request.item_id, request.bom_version):
            self._ran_out[request.item_id] = request.attempt

    def _ours(self, item_id: str, bom_version: str) -> bool:
        return bom_version == self._bom_version and item_id in self._items

    @property
    def ended(self) -> int:
        return len(self._ended.keys() | self._exhausted)

    @property
    def _exhausted(self) -> set[str]:
        """Items that ran out of drafts. The request may be heard before the record of the attempt it is about."""
        return {item_id for item_id, attempt in self._ran_out.items() if (item_id, attempt) in self._judged}

    @property
    def complete(self) -> bool:
        return self.ended == len(self._items)

    def summary(self) -> Summary:
        served = [0] * (self._budget + 1)
        human_fail = list(served)
        human_undecided = list(served)
        for item_id, (decision, attempt) in self._ended.items():
            if decision in (Decision.SERVED_FIRST_PASS, Decision.SERVED_AFTER_REVISION):
                said = self._items[item_id].drafts[attempt].human_label
                served[attempt] += 1
                human_fail[attempt] += said is HumanLabel.FAIL
                human_undecided[attempt] += said is HumanLabel.UNDECIDED
        decisions = [decision for decision, _ in self._ended.values()]
        exhausted = len(self._exhausted - self._ended.keys())
        return Summary(
            items=len(self._items),
            drafts_judged=len(self._judged),
            served_by_attempt=served,
            dropped=decisions.count(Decision.DROPPED) + exhausted,
            undecided=decisions.count(Decision.UNDECIDED),
            exhausted=exhausted,
            human_fail_by_attempt=human_fail,
            human_undecided_by_attempt=human_undecided,
        )
