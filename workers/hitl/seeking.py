"""From drawn rounds to the drafts that raters see, each with what judges said of it: telemetry, read once more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from schemas.ids import event_id
from schemas.labels import TaskKind
from schemas.message import Message
from schemas.telemetry import AttemptRecord
from schemas.verdict_space import Label
from schemas.verdicts import CriterionVerdict
from workers.hitl.drawing import Drawn
from workers.hitl.population import Week
from workers.runtime.reading import Gone

FIRST, REVISION = 0, 1  # the attempts of a pair


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


class Sought(NamedTuple):
    """One draft that is to be labelled: where it lies, and what was said of it."""

    drawn: Drawn
    attempt: int
    draft_uri: str
    judged_sha256: str
    bom_version: str
    said: Said

    def task_id(self, week: Week) -> str:
        """The same draw of the same draft has the same id, however often it is repeated."""
        cause = self.drawn.decision.event_id
        if self.drawn.kind is TaskKind.PAIR:  # two drafts of one round, perhaps with the same words
            cause = event_id("pair", cause, self.attempt)
        return event_id("label_task", week.name, self.drawn.kind, cause, self.judged_sha256)


class Attempts:
    """The attempt records of the drawn rounds, in whatever week they were judged. Of one draft the first counts."""

    def __init__(self, drawn: Iterable[Drawn]) -> None:
        self._rounds = {one.decision.round_id for one in drawn}
        self._by_draft: dict[tuple[str, str, str], Said] = {}
        self._by_number: dict[tuple[str, int], AttemptRecord] = {}

    def take(self, message: Message) -> None:
        if isinstance(message, AttemptRecord) and message.round_id in self._rounds:
            key = (message.round_id, message.judged_sha256, message.bom_version)
            self._by_draft.setdefault(key, Said.of(message))
            self._by_number.setdefault((message.round_id, message.attempt), message)

    def sought(self, drawn: Iterable[Drawn]) -> tuple[list[Sought], list[Gone]]:
        """The drafts to ask for, in the order of the draw, and the pairs of which telemetry has but one half.

        The revision of a pair that the sample asks for anyway is not asked for twice: its label serves both.
        """
        drawn = list(drawn)
        asked = {(one.decision.round_id, one.decision.attempt) for one in drawn if one.kind is TaskKind.SAMPLE}
        found: list[Sought] = []
        gone: list[Gone] = []
        for one in drawn:
            if one.kind is not TaskKind.PAIR:
                found.append(self._decided(one))
                continue
            for half in self._pair(one):
                if isinstance(half, Gone):
                    gone.append(half)
                elif (one.decision.round_id, half.attempt) not in asked:
                    found.append(half)
        return found, gone

    def _pair(self, drawn: Drawn) -> list[Sought] | list[Gone]:
        round_id = drawn.decision.round_id
        records = [self._by_number.get((round_id, attempt)) for attempt in (FIRST, REVISION)]
        lacking = [attempt for attempt in (FIRST, REVISION) if records[attempt] is None]
        if lacking:
            return [Gone(f"attempt {lacking[0]} of round {round_id}", "telemetry has no record of it")]
        return [_of(drawn, record) for record in records if record is not None]

    def _decided(self, drawn: Drawn) -> Sought:
        """The draft that was decided on; nothing was said where its attempt record is gone."""
        d = drawn.decision
        said = self._by_draft.get((d.round_id, d.judged_sha256, d.bom_version), NOTHING_SAID)
        return Sought(drawn, d.attempt, d.draft_uri, d.judged_sha256, d.bom_version, said)


def _of(drawn: Drawn, record: AttemptRecord) -> Sought:
    return Sought(
        drawn, record.attempt, record.draft_uri, record.judged_sha256, record.bom_version, Said.of(record)
    )  # fmt: skip


def _confidence(verdict: CriterionVerdict) -> float | None:
    """How probable the judge's own label was; a non-decision is no statement about the draft."""
    return verdict.served.label_probability if verdict.label.decided and verdict.served else None
