"""Everything that the checks stand on: the judge, what it is shown, and how its model can be made to misbehave."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from schemas.drafts import Draft
from schemas.verdicts import AttemptOutcome
from workers.conformance.anchor_file import AnchorState
from workers.conformance.judging import Run, Subject, Verdicts
from workers.conformance.pairs import OrdinalPair, PairRun
from workers.conformance.suffixes import Suffix
from workers.judge.providers.scripted import Answer

AT_ONCE = 8
RUNS = 100
"""S1: 100 identical inputs."""

MIN_COVERAGE = 0.5


class Replying(Protocol):
    """Makes the same judge over a model that gives this answer to every question, whatever it is asked.

    ``deadline_s`` replaces the time that a draft may take; None leaves it.
    """

    def __call__(self, answer: Answer, *, deadline_s: float | None = None) -> Subject: ...


class GoldRun(NamedTuple):
    """A run on a draft with gold labels: criterion -> label."""

    run: Run
    gold: Mapping[str, str]


@dataclass(frozen=True)
class Ground:
    """What a check may use. What is None cannot be tested here, and the check that needs it says so.

    ``baseline`` is one run a draft, made before any check. ``gate`` says what becomes of a draft with such verdicts.
    ``records`` are the verdict records that the judge worker publishes for the baseline. ``enforced`` are the criteria
    that can block; None = all.
    """

    subject: Subject
    baseline: Sequence[Run]
    gate: Callable[[Verdicts], AttemptOutcome]
    enforced: frozenset[str] | None = None
    cached: Subject | None = None
    replying: Replying | None = None
    max_draft_chars: int | None = None
    fallbacks: frozenset[str] = frozenset()  # judges that may answer where the first one overran
    suffixes: Sequence[Suffix] = ()
    gold: Sequence[GoldRun] = ()
    pairs: Sequence[PairRun] | None = None
    ordinal: Sequence[OrdinalPair] | None = None
    anchor: AnchorState | None = None
    envelope: str | None = None
    records: Sequence[Mapping[str, Any]] = ()
    runs: int = RUNS
    at_once: int = AT_ONCE
    min_coverage: float = MIN_COVERAGE
    notes: Mapping[str, Any] = field(default_factory=dict)  # of the configuration: temperatures, for one

    @property
    def drafts(self) -> list[Draft]:
        return [run.draft for run in self.baseline]

    def blocks(self, criteria: frozenset[str]) -> bool:
        """Whether one of these criteria can keep a draft from being served."""
        return bool(criteria if self.enforced is None else criteria & self.enforced)
