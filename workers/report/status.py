"""Each health at one glance: a condition, and a sentence that says what it rests on. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from schemas.alerts import Alert, AlertKind
from schemas.reports import Figure, Health
from workers.report.page import Condition, Told, Unit
from workers.report.words import written

HEALTH_OF: dict[AlertKind, Health] = {
    AlertKind.GENERATOR_REGRESSION: Health.GENERATOR,
    AlertKind.UNFIXABLE_INPUTS: Health.GENERATOR,
    AlertKind.PASS_RATE_JUMP: Health.GENERATOR,
    AlertKind.RESTARTS: Health.GENERATOR,
    AlertKind.OPEN_ROUNDS: Health.GENERATOR,
    AlertKind.DEAD_LETTERS: Health.GENERATOR,
    AlertKind.STRICTER_JUDGE: Health.JUDGE,
    AlertKind.LENIENT_JUDGE: Health.JUDGE,
    AlertKind.CANCELLING_CHANGES: Health.JUDGE,
    AlertKind.VENDOR_CHANGE: Health.JUDGE,
    AlertKind.BELOW_BAND: Health.JUDGE,
    AlertKind.COVERAGE_LOW: Health.JUDGE,
    AlertKind.MODEL_MISMATCH: Health.JUDGE,
    AlertKind.CONFLICTING_DECISION: Health.JUDGE,
    AlertKind.CACHE_DOWN: Health.JUDGE,
    AlertKind.OVER_BUDGET: Health.JUDGE,
    AlertKind.AMPLIFIED_MISSES: Health.SERVED,
    AlertKind.SERVED_DEFECTS_ABOVE_CAP: Health.SERVED,
    AlertKind.WORDING_LEAKED: Health.SERVED,
    AlertKind.RATER_DRIFT: Health.RATERS,
}
"""Whose health an alert is about."""


def told(alert: Alert) -> Told:
    """An alert as the page has it."""
    return Told(
        kind=alert.kind, state=alert.state, severity=alert.severity, health=HEALTH_OF[alert.kind], scope=alert.scope,
        summary=alert.summary, diagnosis=alert.diagnosis, action=alert.action, runbook=alert.runbook,
        evidence=alert.evidence, bom_version=alert.bom_version, times=alert.times, since=alert.since, at=alert.at,
    )  # fmt: skip


def status(health: Health, figures: Sequence[Figure], firing: Sequence[Told]) -> tuple[Condition, str]:
    """``firing``: the alerts of this health. One that fires outranks what cannot be measured."""
    condition, sentence = _LOOKS[health]([f for f in figures if f.health is health])
    if firing:
        condition = Condition.ATTENTION
    return condition, sentence


def _generator(figures: Sequence[Figure]) -> tuple[Condition, str]:
    passed, dropped = _overall(figures, "first_draft_pass_rate"), _overall(figures, "dropped_rate")
    if passed is None or passed.value is None:
        return Condition.UNKNOWN, "No first draft was judged."
    text = f"{_share(passed)} of {_n(passed)} first drafts passed"
    if dropped is not None and dropped.value is not None:
        text += f"; {_share(dropped)} of the rounds that ended were dropped"
    return Condition.CALM, f"{text}."


def _judge(figures: Sequence[Figure]) -> tuple[Condition, str]:
    covered = [f for f in figures if f.name == "coverage" and f.value is not None]
    least = min(covered, key=lambda f: f.value or 0.0, default=None)
    text = f"Decides at least {_share(least)} of the verdicts of each criterion" if least else "Made no verdict"
    margins = [f for f in figures if f.name == "band_margin" and f.scope.get("slice") == "all"]
    known = [f for f in margins if f.value is not None]
    unmeasured = {f.scope.get("criterion") for f in margins} - {f.scope.get("criterion") for f in known}
    if not known:
        return Condition.UNKNOWN, f"{text}. Whether it agrees with people is not known this week."
    inside = sum((f.value or 0.0) >= 0 for f in known)
    text += f"; inside the raters' band in {inside} of {len(known)} checks"
    if len(margins) > len(known):
        text += f", {len(margins) - len(known)} more could not be made"
    if inside < len(known):
        return Condition.ATTENTION, f"{text}."
    return (Condition.UNKNOWN if unmeasured else Condition.CALM), f"{text}."


def _served(figures: Sequence[Figure]) -> tuple[Condition, str]:
    rate, cap = _overall(figures, "served_defect_rate"), _overall(figures, "served_defect_cap")
    if rate is None or rate.value is None:
        reason = rate.reason if rate is not None else "no figure was published"
        return Condition.UNKNOWN, f"How much of what was served is bad is not known: {reason}."
    text = f"{_share(rate)} of {_n(rate)} labelled served items are bad"
    if rate.lo is None or rate.hi is None or cap is None or cap.value is None:
        return Condition.UNKNOWN, f"{text}; the bounds are not known."
    text += f" ({written(rate.lo, Unit.SHARE)} to {written(rate.hi, Unit.SHARE)}); the cap is {_share(cap)}."
    if rate.lo > cap.value:
        return Condition.ATTENTION, text
    return (Condition.CALM if rate.hi <= cap.value else Condition.UNKNOWN), text


def _raters(figures: Sequence[Figure]) -> tuple[Condition, str]:
    known = [f for f in figures if f.name == "raw_agreement" and f.value is not None]
    least = min(known, key=lambda f: f.value or 0.0, default=None)
    if least is None:
        return Condition.UNKNOWN, "No text has been labelled by two raters."
    return Condition.CALM, f"Two raters agree in {_share(least)} of cases or more, on every criterion."


_LOOKS = {Health.GENERATOR: _generator, Health.JUDGE: _judge, Health.SERVED: _served, Health.RATERS: _raters}


def _overall(figures: Iterable[Figure], name: str) -> Figure | None:
    return next(_over_all(figures, name), None)


def _over_all(figures: Iterable[Figure], name: str) -> Iterator[Figure]:
    return (f for f in figures if f.name == name and f.scope in ({}, {"slice": "all"}))


def _share(figure: Figure) -> str:
    return written(figure.value, Unit.SHARE)


def _n(figure: Figure) -> str:
    return written(figure.n, Unit.COUNT)
