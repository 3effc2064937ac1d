"""How figures are called and how values are written. The one place: page, plots and terminal say the same."""

from __future__ import annotations

from collections.abc import Mapping

from schemas.reports import Figure
from workers.report.page import Line, Unit
from workers.runtime.printable import cut, escaped

_LABEL_CHARS = 72
_UNITS = {
    "band_margin": Unit.POINTS, "hedging_rise": Unit.POINTS, "attempts_per_item": Unit.NUMBER,
    "model_calls_per_attempt": Unit.NUMBER, "length_slope": Unit.NUMBER,
    "krippendorff_alpha": Unit.NUMBER, "fleiss_kappa": Unit.NUMBER,
    "miss_persistence": Unit.NUMBER, "conflicting_decisions": Unit.COUNT, "open_rounds": Unit.COUNT,
}  # fmt: skip
_NAMES = {
    "served_first_pass_rate": "served on first pass", "served_after_revision_rate": "served after revision",
    "dropped_rate": "dropped", "undecided_rate": "undecided, not served", "served_first_pass": "served on first pass",
    "served_after_revision": "served after revision", "cost_usd_per_attempt": "cost of an attempt",
    "latency_ms_p50": "latency, median", "latency_ms_p95": "latency, 95th percentile",
    "latency_ms_p99": "latency, 99th percentile", "served_defect_rate": "all served, pooled weeks",
    "audited_defect_rate": "uniform audit draw", "audit_judge_defect_rate": "in the audit judge's eyes",
    "prediction_powered_defect_rate": "with an audit judge",
    "served_defect_cap": "cap of the charter", "break_even_defect_rate": "break-even", "cached_rate": "cached verdicts",
    "cost_unknown_rate": "attempts of unknown cost", "reasoning_agreement": "RA-", "specificity": "Spec",
    "recall": "Rec", "specificity_in_production": "Spec in production", "recall_in_production": "Rec in production",
    "unknown_clause_rate": "labels that name an unknown clause",
    "other_guidelines_rate": "labels given under other guidelines",
    "marginal_step": "defects of the last retry", "agreement_leave_one_out": "leave-one-out agreement",
}  # fmt: skip
_SCOPE_ORDER = ("criterion", "metric", "slice", "generator", "rater", "stratum", "attempt", "cause")


def unit_of(name: str) -> Unit:
    """The unit that a figure's name implies."""
    if name in _UNITS:
        return _UNITS[name]
    if name.startswith("latency_ms"):
        return Unit.MILLISECONDS
    if name.startswith("cost_usd"):
        return Unit.USD
    return Unit.COUNT if name.endswith("_rounds") else Unit.SHARE


def called(name: str) -> str:
    """A figure, a stratum or a metric as people say it."""
    return _NAMES.get(name, name.replace("_", " "))


def scope_text(scope: Mapping[str, str]) -> str:
    """``c1 · Spec · new_item``. What means everything is left out; names of other people are made printable."""
    known = [name for name in _SCOPE_ORDER if name in scope]
    others = sorted(scope.keys() - set(_SCOPE_ORDER))
    return " · ".join(filter(None, (_part(name, scope[name]) for name in [*known, *others])))


def _part(name: str, value: str) -> str:
    if value == "all":
        return ""
    shown = cut(escaped(value), _LABEL_CHARS)
    if name in ("stratum", "metric"):
        return called(shown)
    return (
        f"{escaped(name)} {shown}" if name in ("attempt", "generator", "slice", "rater", "decision", "age") else shown
    )


def label_of(figure: Figure, *, named: bool) -> str:
    """A line's label: its scope, with the figure's name where a panel holds several figures."""
    scope = scope_text(figure.scope)
    if named:
        return f"{called(figure.name)} · {scope}" if scope else called(figure.name)
    return scope or "all"


def written(value: float | None, unit: Unit) -> str:
    """A value for people; a dash where there is none."""
    if value is None:
        return "–"
    match unit:
        case Unit.SHARE:
            return f"{value:.1%}" if abs(value) >= 0.00995 or value == 0 else f"{value:.2%}"
        case Unit.POINTS:
            return f"{100 * value:+.1f} pt"
        case Unit.COUNT:
            return f"{value:,.0f}"
        case Unit.MILLISECONDS:
            return f"{value:,.0f} ms"
        case Unit.USD:
            return f"${value:,.2f}" if value >= 1 else f"${value:.6f}".rstrip("0").rstrip(".")
        case Unit.NUMBER:
            return f"{value:,.3f}"


def interval(line: Line) -> str:
    """``90.1% to 93.4%``; nothing where there is no interval."""
    if line.lo is None or line.hi is None:
        return ""
    return f"{written(line.lo, line.unit)} to {written(line.hi, line.unit)}"
