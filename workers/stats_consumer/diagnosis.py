"""S2's table 7.6: what a change of the pass rate means, given whether the judge still agrees with people. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from schemas.alerts import AlertKind
from stats.change import Change
from stats.unavailable import Unavailable
from workers.stats_consumer.outcome import Evidence, Fires, NoData, Outcome, Quiet


class Agreement(StrEnum):
    """The judge against people. ``UNKNOWN``: no band, and too few labels to compare with earlier weeks."""

    INSIDE = "inside"
    SPEC_BELOW = "specificity below"
    RECALL_BELOW = "recall below"
    BOTH_BELOW = "both below"
    UNKNOWN = "unknown"

    @property
    def spec_fell(self) -> bool:
        return self in (Agreement.SPEC_BELOW, Agreement.BOTH_BELOW)

    @property
    def recall_fell(self) -> bool:
        return self in (Agreement.RECALL_BELOW, Agreement.BOTH_BELOW)


class Observed(NamedTuple):
    """One criterion in one week. ``agreement``: this week, against the band and against the weeks before;
    ``lasting``: outside the band for weeks in a row."""

    criterion: str
    moved: Change | Unavailable  # the pass rate
    agreement: Agreement
    lasting: Agreement
    evidence: Evidence


KINDS = (
    AlertKind.GENERATOR_REGRESSION, AlertKind.STRICTER_JUDGE, AlertKind.LENIENT_JUDGE, AlertKind.CANCELLING_CHANGES,
    AlertKind.BELOW_BAND, AlertKind.PASS_RATE_JUMP,
)  # fmt: skip


def diagnose(seen: Observed) -> list[Outcome]:
    """At most one of the kinds fires; the others are quiet, or could not be told.

    A changed pass rate and one week outside the band are two signals that agree; without a change the band must be left
    for weeks in a row, or eighteen checks a week would cry wolf.
    """
    scope = {"criterion": seen.criterion}
    if isinstance(seen.moved, Unavailable):
        if seen.lasting in (Agreement.INSIDE, Agreement.UNKNOWN):
            return [NoData(kind, scope, seen.moved.reason) for kind in KINDS]
        return _one(AlertKind.BELOW_BAND, seen, f"{seen.criterion}: {seen.lasting} the raters' band")
    if seen.moved == "unchanged":
        return _unchanged(seen)
    if seen.agreement is Agreement.UNKNOWN:
        missing = f"the pass rate {seen.moved}; labels of this week and before would tell judge from generator"
        return [NoData(kind, scope, missing) for kind in KINDS]
    return _dropped(seen) if seen.moved == "dropped" else _rose(seen)


def _dropped(seen: Observed) -> list[Outcome]:
    if seen.agreement.recall_fell:
        return _one(AlertKind.STRICTER_JUDGE, seen, f"{seen.criterion}: fewer drafts pass, and {seen.agreement}")
    if seen.lasting.spec_fell:  # a single week of the other metric is noise, and not what fewer passes would show
        return _one(AlertKind.BELOW_BAND, seen, f"{seen.criterion}: fewer drafts pass, yet {seen.lasting}")
    return _one(AlertKind.GENERATOR_REGRESSION, seen, f"{seen.criterion}: fewer drafts pass, the judge is as it was")


def _rose(seen: Observed) -> list[Outcome]:
    if seen.agreement.spec_fell:
        return _one(AlertKind.LENIENT_JUDGE, seen, f"{seen.criterion}: more drafts pass, and {seen.agreement}")
    if seen.lasting.recall_fell:
        return _one(AlertKind.BELOW_BAND, seen, f"{seen.criterion}: more drafts pass, yet {seen.lasting}")
    return _one(AlertKind.PASS_RATE_JUMP, seen, f"{seen.criterion}: more drafts pass, the judge is as it was")


def _unchanged(seen: Observed) -> list[Outcome]:
    if seen.lasting in (Agreement.INSIDE, Agreement.UNKNOWN):
        return [Quiet(kind, {"criterion": seen.criterion}) for kind in KINDS]
    return _one(AlertKind.CANCELLING_CHANGES, seen, f"{seen.criterion}: as many drafts pass, yet {seen.lasting}")


def _one(kind: AlertKind, seen: Observed, summary: str) -> list[Outcome]:
    scope = {"criterion": seen.criterion}
    quiet: list[Outcome] = [Quiet(other, scope) for other in KINDS if other is not kind]
    return [Fires(kind, scope, summary, seen.evidence), *quiet]
