"""What the gate would have decided over verdicts on record, under other settings: no judge is asked. Pure.

A retry that never happened has no verdict, so a stricter gate leaves rounds whose end is unknown; they are counted as
that. What is known is exact: the gate's own functions decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from schemas.bom import Bom, Criterion
from schemas.decisions import Decision
from schemas.rating import Scale
from schemas.telemetry import AttemptRecord
from schemas.verdicts import AttemptOutcome, CriterionVerdict
from workers.judge.forms import at_threshold
from workers.judge.gate import decide, enforced_criteria, gated_labels


class Unknown(StrEnum):
    """Why the end of a round cannot be told from what is on record."""

    NOT_REVISED = "would have been revised, and no revision was judged"
    NOT_SCORED = "a verdict without a single judge's score on the scale"
    NOT_ASKED = "a criterion that no judge was asked about"


End = Decision | Unknown


@dataclass(frozen=True, slots=True)
class Settings:
    """What the gate goes by. ``scales``: criterion -> another scale; the others' labels stand as they are."""

    criteria: tuple[Criterion, ...]
    enforced: frozenset[str]
    retry_budget: int
    scales: Mapping[str, Scale] = field(default_factory=dict)

    @classmethod
    def of(cls, bom: Bom) -> Settings:
        return cls(bom.charter.criteria.must_have, enforced_criteria(bom), bom.charter.retry_budget)


def end_of(attempts: Sequence[AttemptRecord], settings: Settings) -> End:
    """How a round would have ended. ``attempts``: those on record, from attempt 0 on; the last may be in vain."""
    for place, record in enumerate(attempts):
        if record.attempt != place:
            return Unknown.NOT_REVISED
        verdicts = weighed(record.verdicts, settings)
        if verdicts is None:
            return Unknown.NOT_SCORED
        labels = gated_labels(verdicts, settings.criteria, enforced=settings.enforced)
        match decide(labels, place, retry_budget=settings.retry_budget):
            case AttemptOutcome.SERVE:
                return Decision.SERVED_FIRST_PASS if place == 0 else Decision.SERVED_AFTER_REVISION
            case AttemptOutcome.DROP:
                return Decision.DROPPED
            case AttemptOutcome.UNDECIDED:
                asked = settings.enforced <= {verdict.criterion_id for verdict in verdicts}
                return Decision.UNDECIDED if asked else Unknown.NOT_ASKED
            case AttemptOutcome.REVISE:
                continue
    return Unknown.NOT_REVISED


def weighed(verdicts: Iterable[CriterionVerdict], settings: Settings) -> tuple[CriterionVerdict, ...] | None:
    """The verdicts under the settings' scales; None where one cannot be weighed anew."""
    found = []
    for verdict in verdicts:
        scale = settings.scales.get(verdict.criterion_id)
        again = verdict if scale is None else at_threshold(verdict, scale)
        if again is None:
            return None
        found.append(again)
    return tuple(found)


class Rounds:
    """Folds attempt records of one BOM version in any order; of two records of one attempt the first counts.

    Rounds whose first draft was judged in [``start``, ``end``): a retry may come later.
    """

    def __init__(self, bom_version: str, *, start: datetime, end: datetime) -> None:
        self._bom_version, self._start, self._end = bom_version, start, end
        self._attempts: dict[str, dict[int, AttemptRecord]] = {}

    def take(self, record: AttemptRecord) -> None:
        begins_outside = record.attempt == 0 and record.judged_at >= self._end
        if record.bom_version == self._bom_version and record.judged_at >= self._start and not begins_outside:
            self._attempts.setdefault(record.round_id, {}).setdefault(record.attempt, record)

    def ends(self, settings: Settings) -> dict[str, End]:
        """Round id -> how it would have ended."""
        ordered = {id_: [of[k] for k in sorted(of)] for id_, of in self._attempts.items() if 0 in of}
        return {id_: end_of(attempts, settings) for id_, attempts in ordered.items()}
