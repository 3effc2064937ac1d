"""Which figures answer which question, health by health. What no panel asks for is shown at the end, never lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from schemas.decisions import Decision
from schemas.reports import Figure, Health
from schemas.verdict_space import Flag
from workers.report.page import Drawn, Line, Mark, Panel, Unit
from workers.report.words import called, label_of, scope_text, unit_of

_SERVED = (str(Decision.SERVED_FIRST_PASS), str(Decision.SERVED_AFTER_REVISION))


class Ask(NamedTuple):
    """One panel to be: the figures by name, of those the ones that ``only`` admits."""

    id: str
    title: str
    note: str
    figures: tuple[str, ...]
    drawn: Drawn | None = None
    only: Callable[[Figure], bool] = lambda _: True
    axis: str = ""
    empty: str = "nothing was published"


def _whole(figure: Figure) -> bool:
    return figure.scope.get("attempt", "all") == "all"


def _everything(figure: Figure) -> bool:
    return figure.scope.get("slice", "all") == "all" and "generator" not in figure.scope


ASKS: dict[Health, tuple[Ask, ...]] = {
    Health.GENERATOR: (
        Ask(
            "pass-rate", "First drafts that pass the gate", "By slice and generator, with 95 % intervals.",
            ("first_draft_pass_rate",), Drawn.INTERVALS, lambda f: "criterion" not in f.scope, "share of first drafts",
        ),
        Ask(
            "pass-rate-criteria", "First drafts that pass, by criterion", "Of the first drafts that were decided.",
            ("first_draft_pass_rate",), Drawn.INTERVALS, lambda f: "criterion" in f.scope and _everything(f),
            "share of decided first drafts",
        ),
        Ask(
            "strata", "What became of the items", "The strata, as shares of the rounds that ended.",
            tuple(f"{decision}_rate" for decision in Decision), Drawn.INTERVALS, _everything, "share of rounds",
        ),
        Ask(
            "pass-curve", "Passed by attempt", "Share of items that have passed after each attempt.",
            ("cumulative_pass_rate",), Drawn.CURVE, axis="attempt",
        ),
        Ask(
            "revisions", "Revisions and rounds", "",
            ("attempts_per_item", "revision_success_rate", "first_draft_defect_rate", "restarted_rounds",
             "abandoned_rounds", "two_texts_rounds", "open_rounds"), None, _everything,
        ),
    ),
    Health.JUDGE: (
        Ask(
            "band", "The judge against the raters' band",
            "How far the judge lies above the edge of the band that raters span among themselves. Below 0 it is "
            "further from them than they are from each other.",
            ("band_margin",), Drawn.INTERVALS, axis="margin",
        ),
        Ask(
            "inside", "Inside the band", "Share of bootstrap resamples in which the judge is inside. No p-value.",
            ("band_inside_share",),
        ),
        Ask(
            "agreement", "The judge against people",
            "Spec: of what people fail, what the judge fails. Rec: of what people pass, what the judge passes.",
            ("specificity", "recall"), Drawn.INTERVALS, _everything, "share of labelled items",
        ),
        Ask(
            "agreement-more", "The same by slice, weighted to production, with reasons compared", "",
            ("specificity", "recall", "specificity_in_production", "recall_in_production", "reasoning_agreement"),
        ),
        Ask(
            "leave-one-out", "The judge against the others' majority", "Each rater left out once.",
            ("agreement_leave_one_out",), Drawn.INTERVALS, axis="share of references",
        ),
        Ask("coverage", "Verdicts that are decisions", "", ("coverage",), Drawn.INTERVALS, axis="share of verdicts"),
        Ask(
            "causes", "Why it abstained", "Shares of all verdicts of a criterion.", ("non_decision_rate",), Drawn.BARS,
            axis="share of verdicts", empty="every verdict was a decision",
        ),
        Ask("flags", "What was flagged", "Shares of the attempts.", tuple(map(str, Flag)), empty="nothing was flagged"),
        Ask(
            "cost", "Cost and speed", "",
            ("cost_usd_per_attempt", "cost_unknown_rate", "model_calls_per_attempt", "cached_rate", "latency_ms_p50",
             "latency_ms_p95", "latency_ms_p99", "conflicting_decisions"),
        ),
    ),
    Health.SERVED: (
        Ask(
            "defects", "Defects that people found, by stratum",
            "Of labelled items; all served together: one-sided 95 % bounds, weeks pooled.",
            ("served_defect_rate", "audited_defect_rate", "prediction_powered_defect_rate", "audit_judge_defect_rate",
             "defect_rate"),
            Drawn.INTERVALS, lambda f: _whole(f) and f.scope.get("stratum", _SERVED[0]) in _SERVED,
            "share of labelled items",
        ),
        Ask(
            "defect-curve", "Defects served by attempt", "Bad share of what each attempt was the first to serve.",
            ("defect_rate",), Drawn.CURVE,
            lambda f: not _whole(f) and f.scope.get("stratum") in _SERVED, "attempt",
            empty="no served item has been labelled",
        ),
        Ask(
            "step", "Does the last retry pay?", "", ("marginal_step", "break_even_defect_rate", "served_defect_cap"),
        ),
        Ask(
            "not-served", "What was not served: bad in people's eyes", "", ("defect_rate",), None,
            lambda f: _whole(f) and f.scope.get("stratum") not in _SERVED, empty="nothing of it has been labelled",
        ),
        Ask(
            "origins", "Where defects after revision come from", "",
            ("caught_then_missed", "never_failed", "unknown"), Drawn.INTERVALS, axis="share of defects after revision",
        ),
        Ask("persistence", "How persistent misses are", "0: a fresh draw each time; 1: always the same.",
            ("miss_persistence",)),
    ),
    Health.RATERS: (
        Ask(
            "raters", "Raters among themselves", "Where the yardstick is soft, so is everything measured with it.",
            ("raw_agreement",), Drawn.INTERVALS, axis="share of pairs of votes",
            empty="no labels of this week have come",
        ),
        Ask(
            "each-rater", "Each rater against the others' majority", "", ("agreement_with_the_others",),
            Drawn.INTERVALS, axis="share of items", empty="no item has three raters",
        ),
        Ask(
            "gold", "Known answers that raters got right", "", ("gold_accuracy",), Drawn.INTERVALS,
            axis="share of gold items", empty="no gold item was rated",
        ),
        Ask(
            "fit", "Labels that do not fit their task's guidelines",
            "Votes of other guidelines wait for an adjudicator; a clause that there is not counts as none.",
            ("unknown_clause_rate", "other_guidelines_rate"), empty="no labels of this week have come",
        ),
        Ask("chance", "Agreement beyond chance", "", ("krippendorff_alpha", "fleiss_kappa")),
    ),
}  # fmt: skip


def panels(health: Health, figures: Iterable[Figure]) -> tuple[Panel, ...]:
    """Every question's panel; then a last one of figures that no question asked for."""
    left = [figure for figure in figures if figure.health is health]
    by_name = {figure.name: figure for figure in left if not figure.scope}
    found = []
    for ask in ASKS[health]:
        mine = [f for name in ask.figures for f in left if f.name == name and ask.only(f)]
        left = [figure for figure in left if figure not in mine]
        found.append(_panel(ask, mine, by_name))
    if left:
        lines = tuple(line_of(figure, named=True) for figure in left)
        found.append(Panel(id="further", title="Further figures", lines=lines))
    return tuple(found)


def line_of(figure: Figure, *, named: bool) -> Line:
    """A published figure as a line of the page."""
    at = figure.scope.get("attempt", "")
    return Line(
        label=label_of(figure, named=named), figure=figure.name, scope=figure.scope, unit=unit_of(figure.name),
        of=figure.of, value=figure.value, lo=figure.lo, hi=figure.hi, n=figure.n, reason=figure.reason,
        at=int(at) if at.isascii() and at.isdigit() and len(at) < 4 else None,
    )  # fmt: skip


def _panel(ask: Ask, figures: list[Figure], by_name: dict[str, Figure]) -> Panel:
    note = ask.note
    if ask.id == "flags":
        figures, note = _raised(figures, note)
    named = len({figure.name for figure in figures}) > 1
    lines = [_curve_line(f) if ask.drawn is Drawn.CURVE else line_of(f, named=named) for f in figures]
    if ask.drawn is Drawn.CURVE:
        first = {line.label: place for place, line in reversed(list(enumerate(lines)))}
        lines.sort(key=lambda line: (first[line.label], line.at or 0))
    if ask.id == "cost":
        lines = [*_total(figures), *lines]
    return Panel(
        id=ask.id, title=ask.title, note=note, drawn=ask.drawn, axis=ask.axis, lines=tuple(lines),
        marks=tuple(_marks(ask, by_name)), empty=None if lines else ask.empty,
    )  # fmt: skip


def _curve_line(figure: Figure) -> Line:
    """A point of a curve is labelled with its curve; where it lies is ``at``."""
    scope = {name: value for name, value in figure.scope.items() if name not in ("attempt", "stratum")}
    return line_of(figure, named=False).model_copy(update={"label": scope_text(scope) or "all"})


def _raised(figures: list[Figure], note: str) -> tuple[list[Figure], str]:
    """Flags that were raised; the others are only named."""
    never = [called(figure.name) for figure in figures if figure.value == 0]
    note = f"{note} Never raised: {', '.join(never)}." if never else note
    return [figure for figure in figures if figure.value != 0], note


def _total(figures: list[Figure]) -> Iterator[Line]:
    for figure in figures:
        if figure.name == "cost_usd_per_attempt" and figure.value is not None and figure.n:
            yield Line(
                label="cost of the week", figure="cost_usd", scope={}, unit=Unit.USD, of="attempts of known cost",
                value=figure.value * figure.n, n=figure.n,
            )  # fmt: skip


def _marks(ask: Ask, by_name: dict[str, Figure]) -> Iterator[Mark]:
    if ask.id == "band":
        yield Mark(label="edge of the band", value=0.0)
    wanted = {"defects": "served_defect_cap", "defect-curve": "break_even_defect_rate"}.get(ask.id)
    figure = by_name.get(wanted or "")
    if figure is not None and figure.value is not None:
        yield Mark(label=called(figure.name), value=figure.value)
