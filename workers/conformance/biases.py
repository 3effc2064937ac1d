"""Biases to measure, not to assume away (S1): position, length, self-preference, and hedging after revision. Pure.

Each is a measurement with its interval. It becomes a check only where somebody states a bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from stats.biases import (
    FamilyGap,
    OrderPairs,
    SelfPreference,
    family_gap,
    position_flip,
    self_preference_gap,
)
from stats.length_bias import length_bias_slope
from stats.unavailable import Unavailable
from workers.conformance.pairs import PairRun
from workers.judge.families import family_of
from workers.judge.hedging import ENGLISH, hedging_words


@dataclass(frozen=True, slots=True)
class Measurement:
    """One bias of one judge. ``value`` is a result of ``stats``, or Unavailable with its reason."""

    name: str
    of: str
    value: Any


def position(runs: Sequence[PairRun], *, of: str) -> Measurement:
    """Flip and reversal rate over pairs asked in both orders (Zheng 2023). A tie against a winner is a flip only."""
    return Measurement("position", of, position_flip(OrderPairs.from_candidates([(run.ab, run.ba) for run in runs])))


def length(scores: Sequence[tuple[float, int]], *, of: str) -> Measurement:
    """Slope of the score on log length, with its interval; ``scores`` are (score, characters), characters above 0."""
    return Measurement("length", of, length_bias_slope([score for score, _ in scores], [n for _, n in scores]))


class FamilyRow(NamedTuple):
    """One draft: who wrote it, what the judge said, and what people said (None: undecided)."""

    generator: str | None
    judge: str
    human: str | None


def self_preference(rows: Sequence[FamilyRow], *, family: str, families: Iterable[str], of: str) -> Measurement:
    """Is the judge kinder to its own family than people's labels justify? Drafts of unknown origin are left out.

    ``families`` is the table of known ones; a generator of none of them counts as another.
    """
    table = {*families, family}
    known = [row for row in rows if row.generator is not None]
    own = [family_of(row.generator or "", table) == family for row in known]
    gap: SelfPreference = self_preference_gap([row.judge for row in known], [row.human for row in known], own)
    return Measurement("self_preference", of, gap)


class Wordiness(NamedTuple):
    """Words in texts, and how many of them hedge."""

    texts: int
    words: int
    hedges: int


@dataclass(frozen=True, slots=True)
class HedgingShift:
    """What revision does to wording. ``gap`` is revised minus first, as shares of words (Newcombe's interval);
    ``words_per_text`` are the two averages."""

    first: Wordiness
    revised: Wordiness
    gap: FamilyGap | Unavailable
    words_per_text: tuple[float, float] | Unavailable


def hedging(first: Iterable[str], revised: Iterable[str]) -> HedgingShift:
    """Hedging words in texts served on first pass and in texts served after revision, English only."""
    before, after = wordiness(first), wordiness(revised)
    # own = revised, other = first: the difference of two shares is the same sum.
    gap = family_gap((after.hedges, after.words), (before.hedges, before.words))
    if before.texts and after.texts:
        per_text: Any = (before.words / before.texts, after.words / after.texts)
    else:
        per_text = Unavailable("no text on one of the two sides")
    return HedgingShift(before, after, _named(gap, before, after), per_text)


def wordiness(texts: Iterable[str]) -> Wordiness:
    counted = [hedging_words(text, ENGLISH) for text in texts]
    return Wordiness(len(counted), sum(words for _, words in counted), sum(hedges for hedges, _ in counted))


def _named(gap: FamilyGap | Unavailable, before: Wordiness, after: Wordiness) -> FamilyGap | Unavailable:
    if isinstance(gap, Unavailable):
        return Unavailable("no word in texts " + ("after revision" if not after.words else "on first pass"))
    return gap


def pairs_by_judge(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[PairRun]]:
    """Recorded comparisons by judge: ``judges[{model, AB, BA}]``, verdicts already naming the candidate.

    A null is an abstain, and so is any word that is not on the menu.
    """
    found: dict[str, list[PairRun]] = {}
    for number, row in enumerate(rows, 1):
        for judge in row["judges"]:
            run = PairRun(str(row.get("item_id", number)), _choice(judge.get("AB")), _choice(judge.get("BA")))
            found.setdefault(str(judge["model"]), []).append(run)
    return found


def _choice(said: object) -> str:
    return _CHOICES.get(said, "abstain") if isinstance(said, str) else "abstain"


_CHOICES: Final = {"A": "A", "B": "B", "TIE": "TIE", "tie": "TIE"}
