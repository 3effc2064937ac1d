"""How a score or a preference becomes pass or fail: what a criterion's form adds to it (S1, "Verdict space")."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from schemas.strict import Strict
from schemas.verdict_space import Choice, Label

MAX_STEPS = 100
"""The menu of scores is written out for the judge, value by value."""

Step = Annotated[int, Field(strict=True, ge=-1_000, le=1_000)]


class Scale(Strict):
    """An ordinal criterion's whole numbers, ``min`` worst and ``max`` best, both included; ``pass_at`` passes."""

    min: Step
    max: Step
    pass_at: Step

    @model_validator(mode="after")
    def _decides(self) -> Self:
        if not self.min < self.pass_at <= self.max:
            raise ValueError("pass_at must lie above min and not above max: otherwise nothing fails, or nothing passes")
        if self.max - self.min > MAX_STEPS:
            raise ValueError(f"a scale has at most {MAX_STEPS} steps")
        return self

    def label_of(self, score: int) -> Label:
        """Never lower for a higher score."""
        return Label.PASS if score >= self.pass_at else Label.FAIL


class OnInconsistent(StrEnum):
    """What to make of a comparison that comes out otherwise when the two texts change places."""

    ABSTAIN = "abstain"
    TIE = "tie"


class Comparison(Strict):
    """A pairwise criterion: which preferences pass (A = the draft). A draft that loses to its rival never passes."""

    passes_on: Annotated[frozenset[Choice], Field(min_length=1)] = frozenset({Choice.A, Choice.TIE})
    on_inconsistent: OnInconsistent = OnInconsistent.ABSTAIN

    @model_validator(mode="after")
    def _a_win_passes_and_a_loss_fails(self) -> Self:
        if Choice.A not in self.passes_on or Choice.B in self.passes_on:
            raise ValueError("passes_on is [A] or [A, TIE]: A is the draft, and B is its rival")
        return self

    def label_of(self, preference: Choice) -> Label:
        return Label.PASS if preference in self.passes_on else Label.FAIL
