"""The week's decisions, each once: what a sample is drawn from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from schemas.decisions import Decision, ItemDecision
from schemas.errors import BomError, SettingsError
from schemas.message import Message


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

    def take(self, message: Message) -> None:
        if (
            isinstance(message, ItemDecision)
            and message.decision in self.strata
            and self.week.holds(message.decided_at)
        ):
            self.decisions.setdefault(message.event_id, message)
