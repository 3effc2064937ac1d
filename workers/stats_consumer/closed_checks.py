"""Checks that compare weeks or need labels: a closed week's numbers in, what to say of each scope out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from schemas.alerts import AlertKind
from schemas.decisions import Decision
from stats.change import rate_change
from stats.unavailable import Unavailable
from workers.stats_consumer.agreement import gold_counts, same_reasons
from workers.stats_consumer.cells import ROUNDS
from workers.stats_consumer.diagnosis import Agreement
from workers.stats_consumer.observing import Series
from workers.stats_consumer.outcome import Evidence, Fires, NoData, Outcome, Quiet
from workers.stats_consumer.rules import Rules
from workers.stats_consumer.served_check import after_revision, labelled, labels_missing, served_rate
from workers.stats_consumer.week import Week, pooled


class Limits(NamedTuple):
    """What the charter says. ``break_even`` None: nothing is at stake."""

    retry_budget: int
    cap: float
    break_even: float | None


def closed_checks(series: Series, limits: Limits, history: Sequence[Week], rules: Rules) -> list[Outcome]:
    """What compares weeks or needs labels: looked at when a week has ended. ``history``: weeks that bounds pool."""
    agreements = {c: series.observed(c) for c in series.week.criteria()}
    stable = all(seen.lasting in (Agreement.INSIDE, Agreement.UNKNOWN) for seen in agreements.values())
    return [
        unfixable_inputs(series, stable=stable),
        amplified_misses(history, limits, stable=stable),
        served_defects(history, limits),
        *rater_drift(series, rules),
        *(other_reasons(series, criterion) for criterion in series.week.criteria()),
    ]


def other_reasons(series: Series, criterion: str) -> Outcome:
    """The judge fails what people fail, and for other reasons, weeks in a row: revisions then mend the wrong thing."""
    kind, scope = AlertKind.BELOW_BAND, {"criterion": criterion, "metric": "reasoning_agreement"}
    below = series.reasons_below(criterion)
    if below is None:
        return NoData(kind, scope, "labels of three raters that name the clause of their fails")
    if not below:
        return Quiet(kind, scope)
    same, known = same_reasons(series.week.panel(criterion))
    evidence: Evidence = {"reasoning_agreement": same / known if known else None, "human_fails": known}
    return Fires(kind, scope, f"{criterion}: the judge's reasons agree less with the raters' than theirs do", evidence)


def unfixable_inputs(series: Series, *, stable: bool) -> Outcome:
    """More rounds end in a drop while the judge is inside the band."""

    def drops(week: Week) -> tuple[int, int]:
        n = {decision: sum(week.strata(ROUNDS).get(decision, {}).values()) for decision in Decision}
        mended = n[Decision.SERVED_AFTER_REVISION]
        return n[Decision.DROPPED], n[Decision.DROPPED] + mended  # of what needed mending: first passes do not hide it

    kind, change = AlertKind.UNFIXABLE_INPUTS, series.change(drops)
    if isinstance(change, Unavailable):
        return NoData(kind, {}, change.reason)
    if change != "rose" or not stable:
        return Quiet(kind, {})
    (x, n), (x0, n0) = drops(series.week), pooled(drops(week) for week in series.baseline)
    evidence: Evidence = {"dropped_of_revised": x / n, "before": x0 / n0}
    return Fires(
        kind, {}, f"{x / n:.1%} of the items that needed revision were dropped, {x0 / n0:.1%} before", evidence
    )


def amplified_misses(history: Sequence[Week], limits: Limits, *, stable: bool) -> Outcome:
    """The post-revision stratum's defect share is above break-even for sure, while the judge is as it was."""
    kind = AlertKind.AMPLIFIED_MISSES
    if limits.break_even is None:
        return NoData(kind, {}, "relative costs: both are 0 in the charter")
    step, x, n = after_revision(labelled(history), break_even=limits.break_even)
    if step.decision == "pool":
        more = labels_missing(x, n, limits.break_even)
        return NoData(kind, {}, f"{more} more post-revision labels" if more else "the share is at break-even")
    if step.decision == "keep" or not stable:
        return Quiet(kind, {})
    evidence: Evidence = {"defect_share": x / n, "labels": n, "break_even": limits.break_even}
    return Fires(
        kind, {}, f"{x} of {n} texts served after revision are bad: retries cost more than they earn", evidence
    )


def served_defects(history: Sequence[Week], limits: Limits) -> Outcome:
    """Above the cap for sure: the lower bound is. Below for sure: the upper bound is. Else more labels are needed."""
    kind, read = AlertKind.SERVED_DEFECTS_ABOVE_CAP, served_rate(labelled(history))
    if isinstance(read.p, Unavailable) or isinstance(read.lower, Unavailable) or isinstance(read.upper, Unavailable):
        reasons = [bound.reason for bound in (read.p, read.lower, read.upper) if isinstance(bound, Unavailable)]
        return NoData(kind, {}, reasons[0])
    if read.lower > limits.cap:
        evidence: Evidence = {"rate": read.p, "lower": read.lower, "cap": limits.cap, "labels": read.n}
        return Fires(
            kind, {}, f"at least {read.lower:.1%} of what is served is bad; the cap is {limits.cap:.1%}", evidence
        )
    if read.upper <= limits.cap:
        return Quiet(kind, {})
    return NoData(kind, {}, f"more labels of served items: {read.n} leave {read.lower:.1%} to {read.upper:.1%} open")


def rater_drift(series: Series, rules: Rules) -> list[Outcome]:
    """A rater answers gold items worse than before."""
    found: list[Outcome] = []
    for criterion in series.week.criteria():
        before = [gold_counts(week, criterion) for week in series.baseline]
        for rater, now in sorted(gold_counts(series.week, criterion).items()):
            base = pooled(counts.get(rater, (0, 0)) for counts in before)
            change = rate_change(now, base, least=rules.rater_drop, level=0.05, min_n=10)
            found.append(_drifted(change, {"criterion": criterion, "rater": rater}, now, base))
    kind = AlertKind.RATER_DRIFT
    return [Quiet(kind, {}), *found] if found else [NoData(kind, {}, "gold items rated this week")]


def _drifted(change: object, scope: dict[str, str], now: tuple[int, int], base: tuple[int, int]) -> Outcome:
    if isinstance(change, Unavailable):
        return NoData(AlertKind.RATER_DRIFT, scope, f"gold items: {change.reason}")
    if change != "dropped":
        return Quiet(AlertKind.RATER_DRIFT, scope)
    right, before = now[0] / now[1], base[0] / base[1]
    summary = f"{scope['rater']}: {right:.0%} of the gold items right, {before:.0%} before"
    return Fires(AlertKind.RATER_DRIFT, scope, summary, {"gold_accuracy": right, "before": before})
