"""What a check says: it fires, it is quiet, or it could not be computed. Silence is none of them."""

from __future__ import annotations

from collections.abc import Mapping
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


Outcome = Fires | Quiet | NoData


def key_of(outcome: Outcome) -> str:
    """As ``Alert.key``: kind and scope."""
    return ":".join([str(outcome.kind), *(f"{name}={value}" for name, value in sorted(outcome.scope.items()))])
