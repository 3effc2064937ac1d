"""What a check found, and what a check is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workers.conformance.ground import Ground


class Result(StrEnum):
    """NOT_APPLICABLE: the rule speaks of something this judge has not. UNAVAILABLE: it could not be shown, and why."""

    PASS = "PASS"  # noqa: S105 - a result, not a password
    FAIL = "FAIL"
    NOT_APPLICABLE = "NOT_APPLICABLE"
    UNAVAILABLE = "UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Finding:
    """``detail`` is one sentence in our words; ``evidence`` are the numbers and item ids behind it, never draft text.

    Numbers in ``evidence`` may be ``stats.unavailable.Unavailable``.
    """

    result: Result
    detail: str
    evidence: Mapping[str, Any] = field(default_factory=dict)


def passed(detail: str, **evidence: Any) -> Finding:
    return Finding(Result.PASS, detail, evidence)


def failed(detail: str, **evidence: Any) -> Finding:
    return Finding(Result.FAIL, detail, evidence)


def not_applicable(detail: str, **evidence: Any) -> Finding:
    return Finding(Result.NOT_APPLICABLE, detail, evidence)


def unavailable(detail: str, **evidence: Any) -> Finding:
    return Finding(Result.UNAVAILABLE, detail, evidence)


@dataclass(frozen=True, slots=True)
class Check:
    """One rule of S1 and how it is put to a judge: ``run`` collects verdicts and hands them to a pure evaluation."""

    name: str
    rule: str
    run: Callable[[Ground], Awaitable[Finding]]
    may_be_unavailable: bool = False  # S1 itself allows no answer, so that having none does not stop a PASS


MAX_NAMED = 5


def some(ids: list[str]) -> list[str]:
    """The first few, for evidence that stays readable; the count stands beside them."""
    return ids[:MAX_NAMED]
