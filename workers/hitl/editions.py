"""Guidelines change, and labels outlive them: a label is read against the version that it was given under. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from difflib import SequenceMatcher
from typing import NamedTuple

from schemas.bom import Bom
from schemas.labels import HumanLabel, SampledItem

Editions = Mapping[str, Collection[str]]
"""Guideline version -> the ids of its clauses."""

_NEAREST = 3
_SHOWN_CHARS = 64  # of other people's text


class Misfit(NamedTuple):
    """``what`` holds the value and the remedy."""

    field: str
    what: str


def editions_of(bom: Bom, sampled: Iterable[SampledItem]) -> Editions:
    """The BOM's guidelines and all that items were sampled under; where both know a version the BOM's word counts."""
    asked = {item.guideline_version: item.guideline_clauses for item in sampled if item.guideline_clauses}
    return {**asked, bom.guideline_version: tuple(bom.clauses)}


def misfit(label: HumanLabel, editions: Editions) -> Misfit | None:
    """Why a label cannot be what its rater meant: guidelines that nobody has, or a clause that they do not have."""
    clauses = editions.get(label.guideline_version)
    if clauses is None:
        known = ", ".join(sorted(editions))
        given = label.guideline_version[:_SHOWN_CHARS]
        return Misfit(
            "guideline_version", f"{given!r} is no known version ({known}); name the one it was labelled under, or "
            "give the BOM that has it with --bom"
        )  # fmt: skip
    if not label.clause or label.clause in clauses:
        return None
    near = ", ".join(nearest_clauses(label.clause, clauses))
    return Misfit("clause", f"{label.clause!r} is no clause of guidelines {label.guideline_version}; nearest: {near}")


def nearest_clauses(clause: str, clauses: Collection[str]) -> list[str]:
    """The ids that look most like it, whatever the letters' case; the first of those that look alike."""
    matcher = SequenceMatcher(b=clause.casefold())

    def likeness(known: str) -> float:
        matcher.set_seq1(known.casefold())
        return matcher.ratio()

    return sorted(clauses, key=lambda known: (-likeness(known), known))[:_NEAREST]
