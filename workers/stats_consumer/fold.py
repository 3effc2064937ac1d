"""The fold: every message counted once, in any order; what changed since the last save is known by row.

Counts are integers under (BOM version, subject, slice, stratum, week of the judgment): a new BOM version starts new
series. Late labels count in their judgment's week until it is final; what comes later is counted as late, and lost.
Where two records contradict each other (two texts for one attempt, two decisions of one round) the first one counts,
and the contradiction is counted beside it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from schemas.canary import CanaryRun
from schemas.decisions import ItemDecision, RoundAbandoned
from schemas.labels import HumanLabel, SampledItem
from schemas.message import Message
from schemas.telemetry import AttemptRecord
from stats.cells import EVERYTHING, CellKey, Cells
from workers.stats_consumer.attempts import (
    Alike,
    AlikeDecisions,
    Sums,
    alike,
    alike_decisions,
    attempt_marks,
    decision_marks,
)
from workers.stats_consumer.canary_check import canary_key, canary_marks, was_counted
from workers.stats_consumer.cells import (
    ABANDONED,
    CONFLICT,
    DEAD_LETTERS,
    RESTARTED,
    ROUNDS,
    STATUS,
    TWO_TEXTS,
    WRONG_REVISION,
    Key,
    Mark,
)
from workers.stats_consumer.counted_units import Failed, Units
from workers.stats_consumer.rounds import Round, Rounds
from workers.stats_consumer.units import Unit, sample_of
from workers.stats_consumer.weeks import end_of, pane_of

Rows = dict[str, bytes | None]
"""Rows to write, by name; None = delete."""


class Fold:
    """``watched``: the slices counted beside everything. ``closed_kept``: closed rounds remembered."""

    def __init__(self, *, watched: Iterable[str] = (), closed_kept: int = 200_000) -> None:
        self._watched = frozenset(watched)
        self._cells = Cells()
        self.rounds = Rounds(closed_kept=closed_kept)
        self.units = Units(watched=self._watched, add=self._add, failed=self._failed)
        self._attempts: defaultdict[Alike, Sums] = defaultdict(Sums)
        self._decisions: Counter[AlikeDecisions] = Counter()
        self._counts_of: dict[type[Message], Callable[[Any], None]] = {
            AttemptRecord: self._attempt,
            ItemDecision: self._decision,
            RoundAbandoned: self._abandoned,
            HumanLabel: self.units.heard,
            SampledItem: self._sampled,
            CanaryRun: self._canary,
        }
        self.late: dict[int, int] = {}
        self.unmatched = 0
        self.final_through = 0
        self.windows_touched: set[tuple[str, int]] = set()
        self._cells_touched: set[Key] = set()
        self._gone: set[str] = set()
        self._meta_touched = False

    @property
    def cells(self) -> Cells:
        """The counts, up to the last message."""
        self._catch_up()
        return self._cells

    def apply(self, message: Message) -> None:
        """Count one message; one that was counted before changes nothing."""
        count = self._counts_of.get(type(message))
        if count is None:
            raise TypeError(f"nothing is counted of a {type(message).__name__}")
        count(message)

    def dead_letter(self, topic: str, kind: str, *, at: datetime) -> None:
        self._add([(("", DEAD_LETTERS, EVERYTHING, "", pane_of(at)), f"{topic}|{kind}", 1)])

    def abandon(self, *, before: datetime) -> list[Round]:
        """Count open rounds that nobody has answered since ``before`` as abandoned; which they are."""
        overdue = self.rounds.overdue(before=before)
        for round_ in overdue:
            self._restate(round_, ABANDONED)
        return overdue

    def close(self, through: int) -> None:
        """Make every week up to this one final."""
        if through > self.final_through:
            self.final_through, self._meta_touched = through, True
            self._gone.update(f"u|{task_id}" for task_id in self.units.drop_settled(through=through))

    def forget(self, *, before: int) -> None:
        """Drop weeks beyond the horizon, labels that no sample came for, and rounds nobody will end."""
        cells = self.cells
        for key in [key for key in cells.counts if key.pane < before]:
            self._cells_touched.add((key[0], key[1], key[2], key[3], key[4]))
        cells.drop_before(before)
        for pane in [pane for pane in self.late if pane < before]:
            del self.late[pane]
        self._meta_touched = True
        limit = end_of(before - 1)
        orphans = self.units.drop_orphans(before=limit)
        self._gone.update(f"u|{task_id}" for task_id in orphans)
        self.unmatched += len(orphans)
        self._gone.update(f"r|{id_}" for id_ in self.rounds.give_up(before=limit))

    def take_windows(self) -> set[tuple[str, int]]:
        """(BOM version, week) of every count that changed since the last call."""
        self._catch_up()
        taken = self.windows_touched | {(key[0], key[4]) for key in self._cells_touched}
        self.windows_touched = set()
        return taken

    def changes(self) -> Rows:
        """Rows changed since the last call. Whoever takes them must write them."""
        self._catch_up()
        rows: Rows = dict.fromkeys(self._gone)
        rows.update(dict.fromkeys(f"r|{id_}" for id_ in self.rounds.forget()))
        rows.update({f"r|{id_}": self.rounds.by_id[id_].row() for id_ in self.rounds.touched})
        rows.update({f"u|{id_}": self.units.by_task[id_].row() for id_ in self.units.touched})
        rows.update({_cell_row(key): self._cell_value(key) for key in self._cells_touched})
        if self._meta_touched:
            rows["m"] = self._meta()
        self._settled()
        return rows

    def snapshot(self) -> Rows:
        """Every row: for a store that has lost its own."""
        self.changes()
        rows: Rows = {f"r|{id_}": round_.row() for id_, round_ in self.rounds.by_id.items()}
        rows.update({f"u|{id_}": unit.row() for id_, unit in self.units.by_task.items()})
        rows.update({_cell_row(key): self._cell_value(key) for key in self._cells.counts})
        rows["m"] = self._meta()
        return rows

    @classmethod
    def restored(cls, rows: Mapping[str, bytes], *, watched: Iterable[str] = (), closed_kept: int = 200_000) -> Fold:
        """The fold that wrote these rows."""
        fold = cls(watched=watched, closed_kept=closed_kept)
        rounds = [Round.of(name[2:], row) for name, row in rows.items() if name.startswith("r|")]
        for round_ in sorted(rounds, key=lambda r: r.last_at):
            fold.rounds.put(round_)
        for name, row in rows.items():
            if name.startswith("c|"):
                key = CellKey(*orjson.loads(name[2:]))
                fold._cells.counts[key] = orjson.loads(row)
                fold.windows_touched.add((key.bom_version, key.pane))
            elif name.startswith("u|"):
                fold.units.put(Unit.of(name[2:], row))
        if meta := rows.get("m"):
            fold.final_through, fold.unmatched, late = orjson.loads(meta)
            fold.late = {int(pane): n for pane, n in late}
        return fold

    def _attempt(self, record: AttemptRecord) -> None:
        pane = pane_of(record.judged_at)
        if self._is_late(pane):
            return
        round_ = self.rounds.of(record)
        if round_.hears(record):
            self._attempts[alike(record, pane=pane)].add(record)
            if wrong := round_.answered_wrongly(record.attempt):
                self._add([_status(record.bom_version, WRONG_REVISION, pane)], wrong)
        elif round_.another_text(record):
            self._add([_status(record.bom_version, TWO_TEXTS, pane)])
        self._restate(round_, None)
        self.units.round_changed(record.round_id)

    def _decision(self, decision: ItemDecision) -> None:
        pane = pane_of(decision.decided_at)
        if self._is_late(pane):
            return
        round_ = self.rounds.of(decision)
        if round_.ends(decision):
            self.rounds.ended(round_)
            self._decisions[alike_decisions(decision, pane=pane)] += 1
            self._restate(round_, None)
        elif round_.conflicts(decision):
            self._add([_status(decision.bom_version, CONFLICT, pane)])

    def _abandoned(self, said: RoundAbandoned) -> None:
        """Our own word, read again after the counts were lost: it holds unless an answer has come since."""
        round_ = self.rounds.by_id.get(said.round_id)
        if round_ is not None and round_.open and round_.status is None and max(round_.attempts) == said.attempt:
            self._restate(round_, ABANDONED)

    def _sampled(self, item: SampledItem) -> None:
        sample = sample_of(item)
        if not self._is_late(sample.pane):
            self.units.sampled(item.task_id, sample)

    def _canary(self, run: CanaryRun) -> None:
        pane = pane_of(run.ended_at)
        if self._is_late(pane):
            return
        key = canary_key(run, pane=pane)
        if not was_counted(run, self._cells.counts.get(CellKey(*key), {})):
            self._add(canary_marks(run, key))

    def _restate(self, round_: Round, status: str | None) -> None:
        """Count the round's status anew, and that of the item's other rounds, which a later one outdates."""
        if status is round_.status is None and self.rounds.only_one(round_):
            return
        for other in self.rounds.of_item(round_.item_id):
            now = status if other is round_ else other.status
            now = RESTARTED if self.rounds.superseded(other) else None if now == RESTARTED or not other.open else now
            if now == other.status:
                continue
            if other.status is not None:
                self._add([_status(other.bom_version, other.status, other.status_pane)], -1)
            other.status, other.status_pane = now, pane_of(datetime.fromtimestamp(other.last_at, tz=UTC))
            if now is not None:
                self._add([_status(other.bom_version, now, other.status_pane)])
            self.rounds.touched.add(other.round_id)

    def _catch_up(self) -> None:
        """Bring the counts up to the last message: what is alike, or said of one unit, is counted together."""
        self.units.catch_up()
        for of, sums in self._attempts.items():
            self._add(attempt_marks(of, sums, watched=self._watched))
        self._attempts.clear()
        for ended, n in self._decisions.items():
            self._add(decision_marks(ended, n, watched=self._watched))
        self._decisions.clear()

    def _failed(self, round_id: str) -> Failed:
        round_ = self.rounds.by_id.get(round_id)
        return round_.failed if round_ else {}

    def _is_late(self, pane: int) -> bool:
        if pane > self.final_through:
            return False
        self.late[pane] = self.late.get(pane, 0) + 1
        self._meta_touched = True
        return True

    def _add(self, marks: Iterable[Mark], sign: int = 1) -> None:
        self._cells_touched.update(self._cells.add_all(marks, sign))

    def _cell_value(self, key: Key | CellKey) -> bytes | None:
        at = self._cells.counts.get(CellKey(*key))
        return orjson.dumps(at, option=orjson.OPT_SORT_KEYS) if at else None  # the same bytes in any order of arrival

    def _meta(self) -> bytes:
        return orjson.dumps([self.final_through, self.unmatched, sorted(self.late.items())])

    def _settled(self) -> None:
        self.windows_touched.update((key[0], key[4]) for key in self._cells_touched)
        for touched in (self._cells_touched, self.units.touched, self.rounds.touched, self._gone):
            touched.clear()
        self._meta_touched = False


def _status(bom_version: str, status: str, pane: int) -> Mark:
    return ((bom_version, ROUNDS, EVERYTHING, STATUS, pane), status, 1)


def _cell_row(key: Key | CellKey) -> str:
    return "c|" + orjson.dumps(list(key)).decode()
