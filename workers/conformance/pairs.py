"""Verdicts on two drafts, as plain words, so that any form of judge, live or recorded, can be put through.

A pairwise verdict is A, B, TIE or a non-decision; an ordinal one is an integer or a non-decision.
"""

from __future__ import annotations

from typing import NamedTuple


class PairRun(NamedTuple):
    """One pair in both orders: ``ab`` with A shown first, ``ba`` with B shown first, both naming the candidate.

    ``resolved`` is what the judge makes of the two. A judge that asks both orders itself has two resolved verdicts and
    no third: then it is None, and a winner against the other winner is the breach.
    """

    pair: str
    ab: str
    ba: str
    resolved: str | None = None


class OrdinalPair(NamedTuple):
    """Scores of a draft and of one that it dominates under the rubric; a word is a non-decision."""

    pair: str
    dominant: int | str
    dominated: int | str
