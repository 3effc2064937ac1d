"""The three forms of verdict: what a judge is asked for, how its reply is read, and which label that leads to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from schemas.rating import Comparison, Scale
from schemas.verdict_space import Choice, Label
from schemas.verdicts import CriterionVerdict
from workers.judge.form_objects import PAIRWISE, ordinal_contract
from workers.judge.reading import Contract
from workers.judge.schema import PAIRWISE_SCHEMA, STRICT_SCHEMA, ordinal_schema
from workers.judge.verdict_object import DEFAULT


class Said(NamedTuple):
    """A reply's word on the draft. ``preference`` A is the draft, whichever text was shown first."""

    label: Label
    score: int | None = None
    preference: Choice | None = None


@dataclass(frozen=True, slots=True)
class VerdictForm:
    """``weigh`` takes what the contract reads of a decision; ``swapped`` is True where the rival is shown first."""

    schema: Mapping[str, Any]
    contract: Contract[Any]
    weigh: Callable[[Any], Said]
    swapped: bool = False

    def said(self, word: Label | Choice | int) -> Said:
        """A non-decision is one in every form: it is never weighed."""
        return Said(word) if isinstance(word, Label) and not word.decided else self.weigh(word)


BINARY: Final = VerdictForm(STRICT_SCHEMA, DEFAULT, Said)


def ordinal(scale: Scale) -> VerdictForm:
    return VerdictForm(
        ordinal_schema(scale), ordinal_contract(scale), lambda score: Said(scale.label_of(score), score=score)
    )


def pairwise(comparison: Comparison, *, swapped: bool) -> VerdictForm:
    """One order of a comparison. The judge knows its texts by their places; the preference is turned back here."""

    def weigh(choice: Choice) -> Said:
        preference = choice.mirrored if swapped else choice
        return Said(comparison.label_of(preference), preference=preference)

    return VerdictForm(PAIRWISE_SCHEMA, PAIRWISE, weigh, swapped=swapped)


def at_threshold(verdict: CriterionVerdict, scale: Scale) -> CriterionVerdict | None:
    """What an old ordinal verdict says under a scale with another ``pass_at``: no judge is asked.

    A non-decision stays one. None where the score is not the whole of it: the verdict of several judges, whose votes
    would have to be counted anew, and a score that is not on the scale.
    """
    if not verdict.label.decided:
        return verdict
    if verdict.votes or verdict.score is None or not scale.min <= verdict.score <= scale.max:
        return None
    return verdict.model_copy(update={"label": scale.label_of(verdict.score)})
