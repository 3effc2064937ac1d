"""What a check says: it fires, it is quiet, it could not be computed, or there is nothing to check any more.

Silence is none of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from schemas.alerts import AlertKind

Evidence = Mapping[str, float | str | None]


class Fires(NamedTuple):
    kind: AlertKind
    scope: Mapping[str, str]
    summary: str
    evidence: Evidence


class Quiet(NamedTuple):
    kind: AlertKind
    scope: Mapping[str, str]


class NoData(NamedTuple):
    """``missing`` says what would make the check possible."""

    kind: AlertKind
    scope: Mapping[str, str]
    missing: str


class Ended(NamedTuple):
    """``why`` it is not looked at any more."""

    kind: AlertKind
    scope: Mapping[str, str]
    why: str


Outcome = Fires | Quiet | NoData | Ended


class Looked(NamedTuple):
    """All checks of one BOM version; under ``""`` stands what is of none.

    ``ended``: kinds that are looked at in a version that judges, and this one does not any more.
    """

    bom_version: str
    outcomes: Sequence[Outcome]
    ended: Collection[AlertKind] = ()
