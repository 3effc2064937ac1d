"""Labels that come again: the same word changes nothing, another word is a correction with a higher version."""

from __future__ import annotations

from collections.abc import Iterable

from schemas.labels import HumanLabel
from workers.hitl.rows import Key

_WHAT_WAS_SAID = ("vote", "rationale", "failure_mode", "clause", "guideline_version", "retracted")


def newest(labels: Iterable[HumanLabel]) -> dict[Key, HumanLabel]:
    """The highest version of each; of two with one version the first counts. Any order of arrival but for that."""
    found: dict[Key, HumanLabel] = {}
    for label in labels:
        key = Key.of(label)
        if key not in found or label.version > found[key].version:
            found[key] = label
    return found


def merged(label: HumanLabel, known: HumanLabel | None) -> HumanLabel | None:
    """What to publish for a label that somebody gave us: None when the same is on record."""
    if known is None:
        return label
    if all(getattr(label, name) == getattr(known, name) for name in _WHAT_WAS_SAID):
        return None
    return label.model_copy(update={"version": known.version + 1, "edited": True})
