"""Checks that need no labels and no comparison: a week's numbers in, what to say of each scope out."""

from __future__ import annotations

from schemas.alerts import AlertKind
from schemas.decisions import Decision
from schemas.verdict_space import Cause, Flag
from stats.proportions import wilson
from stats.unavailable import Unavailable
from workers.stats_consumer.cells import (
    ABANDONED,
    CAUSES,
    CONFLICT,
    DEAD_LETTERS,
    FLAGS,
    RESTARTED,
    ROUNDS,
    STATUS,
    USAGE,
)
from workers.stats_consumer.outcome import Evidence, Fires, NoData, Outcome, Quiet
from workers.stats_consumer.rules import Rules
from workers.stats_consumer.week import Week

_FLAG_KINDS = {
    Flag.MODEL_MISMATCH: AlertKind.MODEL_MISMATCH,
    Flag.WORDING_LEAKED: AlertKind.WORDING_LEAKED,
}

RUNNING = frozenset(
    {
        *_FLAG_KINDS.values(),
        AlertKind.CACHE_DOWN,
        AlertKind.OVER_BUDGET,
        AlertKind.COVERAGE_LOW,
        AlertKind.CONFLICTING_DECISION,
        AlertKind.RESTARTS,
        AlertKind.OPEN_ROUNDS,
        AlertKind.VENDOR_CHANGE,
    }
)
"""What is looked at while a BOM version judges, and ends with that."""


def running_checks(week: Week, rules: Rules) -> list[Outcome]:
    """What needs no labels and no comparison: looked at in the week that is still open too."""
    return [
        *(flagged(week, flag, kind, at_most=0.0) for flag, kind in _FLAG_KINDS.items()),
        flagged(week, Flag.CACHE_DOWN, AlertKind.CACHE_DOWN, at_most=rules.max_cache_down),
        over_budget(week),
        *(coverage_low(week, criterion, rules) for criterion in week.criteria()),
        conflicting(week),
        restarts(week, rules),
        open_rounds(week, rules),
    ]


def flagged(week: Week, flag: Flag, kind: AlertKind, *, at_most: float) -> Outcome:
    """More than this share of the attempts carry the flag, for sure: the lower bound is above it."""
    attempts, n = week.cells(USAGE)["attempts"], week.cells(FLAGS)[flag]
    if not attempts:
        return NoData(kind, {}, "attempts; none was judged")
    if not _above(n, attempts, at_most):
        return Quiet(kind, {})
    return Fires(kind, {}, f"{n} of {attempts} attempts: {flag}", {"attempts": attempts, "flagged": n})


def over_budget(week: Week) -> Outcome:
    n = sum(times for cell, times in week.cells(CAUSES).items() if cell.endswith(f"|{Cause.OVER_BUDGET}"))
    if not n:
        return Quiet(AlertKind.OVER_BUDGET, {})
    return Fires(AlertKind.OVER_BUDGET, {}, f"{n} verdicts were not made: the cost cap", {"verdicts": n})


def coverage_low(week: Week, criterion: str, rules: Rules) -> Outcome:
    """The share of decided verdicts is below the limit for sure: its upper bound is."""
    labels, scope = week.cells(criterion), {"criterion": criterion}
    decided = labels["pass|"] + labels["fail|"]
    bound = wilson(decided, labels.total(), side="upper")
    if isinstance(bound, Unavailable):
        return NoData(AlertKind.COVERAGE_LOW, scope, "verdicts; none was made")
    if bound.hi >= rules.min_coverage:
        return Quiet(AlertKind.COVERAGE_LOW, scope)
    causes = {cell.rsplit("|", 1)[1]: n for cell, n in week.cells(CAUSES).items() if cell.startswith(f"{criterion}|")}
    evidence: Evidence = {"coverage": bound.p, "verdicts": bound.m, **causes}
    return Fires(AlertKind.COVERAGE_LOW, scope, f"{criterion}: {bound.p:.1%} of the verdicts are decided", evidence)


def conflicting(week: Week) -> Outcome:
    n = week.strata(ROUNDS).get(STATUS, {}).get(CONFLICT, 0)
    if not n:
        return Quiet(AlertKind.CONFLICTING_DECISION, {})
    return Fires(AlertKind.CONFLICTING_DECISION, {}, f"{n} rounds were decided in two ways", {"rounds": n})


def restarts(week: Week, rules: Rules) -> Outcome:
    return _status_share(week, RESTARTED, AlertKind.RESTARTS, rules.max_restarts, "were left for a new one")


def open_rounds(week: Week, rules: Rules) -> Outcome:
    return _status_share(week, ABANDONED, AlertKind.OPEN_ROUNDS, rules.max_abandoned, "were never answered")


def _status_share(week: Week, status: str, kind: AlertKind, at_most: float, words: str) -> Outcome:
    n = week.strata(ROUNDS).get(STATUS, {}).get(status, 0)
    ended = sum(sum(week.strata(ROUNDS).get(decision, {}).values()) for decision in Decision)
    if not _above(n, ended + n, at_most):
        return Quiet(kind, {})
    return Fires(kind, {}, f"{n} rounds {words}; {ended} came to their end", {"rounds": n, "ended": ended})


def _above(x: int, n: int, limit: float) -> bool:
    """Is the share above the limit for sure? One of ten is no news where one of twenty is expected."""
    bound = wilson(x, n, side="lower")
    return x > 0 and not isinstance(bound, Unavailable) and bound.lo > limit


def dead_letters(week: Week | None) -> list[Outcome]:
    """Dead letters of all workers, whatever the BOM."""
    if week is None:
        return [Quiet(AlertKind.DEAD_LETTERS, {})]
    kinds = dict(sorted(week.cells(DEAD_LETTERS).items()))
    n = sum(kinds.values())
    return [Fires(AlertKind.DEAD_LETTERS, {}, f"{n} records were set aside", {**kinds})]
