"""The week's decisions, each once, with what the judge said of the very draft: what a sample is drawn from."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from schemas.decisions import Decision, ItemDecision
from schemas.errors import BomError, SettingsError
from schemas.message import Message
from schemas.telemetry import AttemptRecord
from schemas.verdict_space import Label
from schemas.verdicts import CriterionVerdict


class Said(NamedTuple):
    """What judges said of one draft, by criterion. ``clauses``: of fails; ``confidence``: where it is known."""

    labels: Mapping[str, str]
    clauses: Mapping[str, str]
    confidence: Mapping[str, float]
    audit: Mapping[str, str]

    @classmethod
    def of(cls, record: AttemptRecord) -> Said:
        verdicts = record.verdicts
        return cls(
            {v.criterion_id: str(v.label) for v in verdicts},
            {v.criterion_id: v.guideline_clause for v in verdicts if v.label is Label.FAIL and v.guideline_clause},
            {v.criterion_id: p for v in verdicts if (p := _confidence(v)) is not None},
            {v.criterion_id: str(v.label) for v in record.audit},
        )


NOTHING_SAID = Said({}, {}, {}, {})


class Week(NamedTuple):
    """One ISO week in UTC, from Monday (inclusive) to Monday (exclusive)."""

    name: str
    start: datetime
    end: datetime

    @classmethod
    def named(cls, name: str) -> Week:
        """``2026-W48``. Raises SettingsError for anything else."""
        try:
            year, number = name.split("-W")
            if len(year) != 4 or len(number) != 2:
                raise ValueError(name)
            monday = date.fromisocalendar(int(year), int(number), 1)
        except ValueError as error:
            raise SettingsError(f"{name[:40]!r} is no ISO week; write it as 2026-W48") from error
        start = datetime(monday.year, monday.month, monday.day, tzinfo=UTC)
        return cls(name, start, start + timedelta(days=7))

    def holds(self, moment: datetime) -> bool:
        return self.start <= moment < self.end


def strata_of(names: Collection[str]) -> frozenset[Decision]:
    """The charter's strata as decisions. Raises BomError naming the one that is none."""
    for name in names:
        if name not in set(Decision):
            raise BomError(f"charter.yaml: hitl.strata: {name[:40]!r} is none of {', '.join(Decision)}")
    return frozenset(Decision(name) for name in names)


@dataclass(slots=True)
class Population:
    """Folds telemetry in any order, duplicates included. Of two decisions with one event id the first counts."""

    week: Week
    strata: frozenset[Decision]
    decisions: dict[str, ItemDecision] = field(default_factory=dict)
    _said: dict[tuple[str, str, str], Said] = field(default_factory=dict)

    def take(self, message: Message) -> None:
        match message:
            case ItemDecision() if message.decision in self.strata and self.week.holds(message.decided_at):
                self.decisions.setdefault(message.event_id, message)
            case AttemptRecord() if self._may_be_of_the_week(message.judged_at):
                key = (message.round_id, message.judged_sha256, message.bom_version)
                self._said.setdefault(key, Said.of(message))
            case _:
                pass

    def said(self, decision: ItemDecision) -> Said:
        """What was said of the draft that was decided on; nothing where its attempt record is gone."""
        return self._said.get((decision.round_id, decision.judged_sha256, decision.bom_version), NOTHING_SAID)

    def _may_be_of_the_week(self, judged_at: datetime) -> bool:
        # A decision is made when its last attempt is judged; a minute's grace for clocks that differ.
        grace = timedelta(minutes=1)
        return self.week.start - grace <= judged_at < self.week.end + grace


def _confidence(verdict: CriterionVerdict) -> float | None:
    """How probable the judge's own label was; a non-decision is no statement about the draft."""
    return verdict.served.label_probability if verdict.label.decided and verdict.served else None
