"""Generator health: what comes in and what becomes of it, from telemetry alone (S2 7.6, 8.4)."""

from __future__ import annotations

from collections.abc import Iterator

from schemas.decisions import Decision
from schemas.reports import Figure, Health
from stats.cells import GATE, pass_curve
from stats.unavailable import Unavailable, ratio
from workers.stats_consumer.cells import GENERATOR, ROUNDS, STATUS
from workers.stats_consumer.figure import share, value
from workers.stats_consumer.week import Week

_G = Health.GENERATOR
_STATUSES = ("restarted", "abandoned", "two_texts", "wrong_revision")


def generator_figures(week: Week, *, retry_budget: int) -> Iterator[Figure]:
    """Per slice and generator: first-draft pass rate, attempts, drops, revisions; per criterion beside the gate."""
    for slice_ in week.slices(GATE):
        yield from _gate(week, slice_, retry_budget)
    for slice_ in week.slices(ROUNDS):
        yield from _rounds(week, slice_)
    for criterion in week.criteria():
        for slice_ in week.slices(criterion):
            passed, decided = week.first_passes(criterion, slice_)
            scope = {"criterion": criterion, **slice_scope(slice_)}
            yield share(_G, "first_draft_pass_rate", passed, decided, of="decided first drafts", scope=scope)
    counted = week.strata(ROUNDS).get(STATUS, {})
    for status in _STATUSES:
        yield value(_G, f"{status}_rounds", counted.get(status, 0), of="rounds")


def slice_scope(slice_: str) -> dict[str, str]:
    """A slice as the scope of a figure: a generator is called one."""
    if slice_.startswith(GENERATOR):
        return {"generator": slice_.removeprefix(GENERATOR)}
    return {"slice": slice_}


def _gate(week: Week, slice_: str, retry_budget: int) -> Iterator[Figure]:
    scope, cells = slice_scope(slice_), week.cells(GATE, slice_)
    served, first = week.first_drafts(slice_)
    yield share(_G, "first_draft_pass_rate", served, first, of="first drafts", scope=scope)
    yield value(_G, "attempts_per_item", ratio(cells.total(), first, "no first draft was judged"), n=first, scope=scope)
    judged = {cell.split("|")[0] for cell in cells}
    for k, curve in enumerate(pass_curve(cells, retry_budget=retry_budget)):
        # What nobody has tried yet must not look measured.
        rate = curve if str(k) in judged else Unavailable(f"no draft of attempt {k} was judged")
        yield value(_G, "cumulative_pass_rate", rate, of="first drafts", n=first, scope={**scope, "attempt": str(k)})


def _rounds(week: Week, slice_: str) -> Iterator[Figure]:
    scope = slice_scope(slice_)
    n = {decision: sum(week.strata(ROUNDS, slice_).get(decision, {}).values()) for decision in Decision}
    total = sum(n.values())
    for decision in Decision:
        yield share(_G, f"{decision}_rate", n[decision], total, of="rounds that ended", scope=scope)
    mended, dropped = n[Decision.SERVED_AFTER_REVISION], n[Decision.DROPPED]
    yield share(_G, "revision_success_rate", mended, mended + dropped, of="rounds that went into revision", scope=scope)
