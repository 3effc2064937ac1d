"""All sampled items that may still get labels, and what each adds to the counts now.

A unit is counted anew when somebody looks at the counts and not at each of its labels: those of an item come together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from schemas.labels import HumanLabel, TaskKind
from workers.stats_consumer.cells import Mark
from workers.stats_consumer.unit_marks import marks_of
from workers.stats_consumer.units import Sample, Unit

Failed = Mapping[int, tuple[str, ...]]
"""Attempt -> the criteria it failed."""


class Units:
    """``add`` counts marks (or takes them back, with -1); ``failed`` is what is known of a round's attempts."""

    def __init__(
        self, *, watched: frozenset[str], add: Callable[[Iterable[Mark], int], None], failed: Callable[[str], Failed]
    ) -> None:
        self._watched, self._add, self._failed = watched, add, failed
        self.by_task: dict[str, Unit] = {}
        self._tasks_of_round: dict[str, set[str]] = {}
        self._stale: dict[str, None] = {}
        self.touched: set[str] = set()

    def put(self, unit: Unit) -> None:
        self.by_task[unit.task_id] = unit
        if unit.sample is not None:
            self._tasks_of_round.setdefault(unit.sample.round_id, set()).add(unit.task_id)

    def heard(self, label: HumanLabel) -> None:
        """A label; it may come before its sample."""
        unit = self._unit(label.task_id)
        if unit.hear(label):
            self._change(unit.task_id)

    def sampled(self, task_id: str, sample: Sample) -> None:
        unit = self._unit(task_id)
        if unit.sample is None:
            unit.sample = sample
            self.put(unit)
            self._change(task_id)

    def round_changed(self, round_id: str) -> None:
        for task_id in self._tasks_of_round.get(round_id, ()):
            self._change(task_id)

    def catch_up(self) -> None:
        """Count anew what has changed since the last time."""
        stale, self._stale = self._stale, {}
        followers = {revision: None for task_id in stale if (revision := self._revision(task_id))}
        for task_id in stale:
            unit = self.by_task[task_id]
            if unit.sample is not None:
                unit.failed.update(self._failed(unit.sample.round_id))
        for task_id in stale | followers:
            unit = self.by_task[task_id]
            self._add(unit.marks, -1)
            unit.marks = marks_of(unit, self._first_of_pair(task_id), watched=self._watched)
            self._add(unit.marks, 1)
            self.touched.add(task_id)

    def drop_settled(self, *, through: int) -> list[str]:
        """Drop the units of weeks that are final; their tasks."""
        return self._drop(u.task_id for u in self.by_task.values() if u.sample and u.sample.pane <= through)

    def drop_orphans(self, *, before: datetime) -> list[str]:
        """Drop labels that no sample came for; their tasks."""
        limit = before.timestamp()
        return self._drop(u.task_id for u in self.by_task.values() if u.sample is None and _newest(u) < limit)

    def _unit(self, task_id: str) -> Unit:
        unit = self.by_task.get(task_id)
        if unit is None:
            unit = Unit(task_id)
            self.put(unit)
        return unit

    def _change(self, task_id: str) -> None:
        self._stale[task_id] = None

    def _drop(self, tasks: Iterable[str]) -> list[str]:
        self.catch_up()
        gone = list(tasks)
        for task_id in gone:
            unit = self.by_task.pop(task_id)
            self.touched.discard(task_id)
            if unit.sample is not None:
                others = self._tasks_of_round[unit.sample.round_id]
                others.discard(task_id)
                if not others:
                    del self._tasks_of_round[unit.sample.round_id]
        return gone

    def _revision(self, task_id: str) -> str | None:
        """The task of a pair's second draft, given its first; the sample may have asked for that draft already."""
        sample = self.by_task[task_id].sample
        if sample is None or sample.kind != TaskKind.PAIR or sample.attempt > 0:
            return None
        return self._in_round(sample.round_id, 1, (TaskKind.PAIR, TaskKind.SAMPLE))

    def _first_of_pair(self, task_id: str) -> Unit | None:
        """The unit of a pair's first draft, given its second."""
        sample = self.by_task[task_id].sample
        if sample is None or sample.attempt != 1 or sample.kind not in (TaskKind.PAIR, TaskKind.SAMPLE):
            return None
        first = self._in_round(sample.round_id, 0, (TaskKind.PAIR,))
        return self.by_task[first] if first else None

    def _in_round(self, round_id: str, attempt: int, kinds: Sequence[TaskKind]) -> str | None:
        for task_id in sorted(self._tasks_of_round.get(round_id, ())):
            sample = self.by_task[task_id].sample
            if sample and sample.attempt == attempt and sample.kind in kinds:
                return task_id
        return None


def _newest(unit: Unit) -> float:
    return max((w.labelled_at for words in unit.votes.values() for w in words.values()), default=0.0)
