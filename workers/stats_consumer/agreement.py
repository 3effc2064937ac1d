"""Judge against people, and people against each other: Spec, Rec, leave-one-out, raters on gold (S2 5, 6.4, 7.7).

Raters' agreement comes first: where the yardstick is soft, so is everything measured with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from schemas.labels import Fit
from schemas.reports import Figure, Health
from stats.agreement import fleiss_kappa
from stats.alignment import AlignmentCounts, alignment_from_counts
from stats.alpha import AlphaState
from stats.prevalence import rogan_gladen
from stats.unavailable import Number, Unavailable
from stats.verdicts import FAIL, PASS
from workers.stats_consumer.cells import GOLD, LABELS, PANEL, PanelItem
from workers.stats_consumer.figure import share, value
from workers.stats_consumer.units import reference
from workers.stats_consumer.week import Week

_J, _R = Health.JUDGE, Health.RATERS

Panel = Sequence[tuple[str, PanelItem, int]]


class Confusion(NamedTuple):
    """Unweighted counts against people's word; a non-decision is neither caught nor kept."""

    caught: int
    fails: int
    kept: int
    passes: int


def gold_of(item: PanelItem) -> str | None:
    return item.adjudicated or reference(item.votes)


def confusion(panel: Panel) -> Confusion:
    pairs: Counter[tuple[str, str | None]] = Counter()
    for _, item, n in panel:
        pairs[item.judge, gold_of(item)] += n
    fails = sum(n for (_, gold), n in pairs.items() if gold == FAIL)
    passes = sum(n for (_, gold), n in pairs.items() if gold == PASS)
    return Confusion(pairs[FAIL, FAIL], fails, pairs[PASS, PASS], passes)


def same_reasons(panel: Panel) -> tuple[int, int]:
    """RA-: (failed by the judge for the people's clause, human fails whose clause is known) (S2 3.2)."""
    known = [(item, n) for _, item, n in panel if gold_of(item) == FAIL and item.reasons and item.reasons.known]
    same = sum(n for i, n in known if i.reasons and i.judge == FAIL and i.reasons.judge == i.reasons.known)
    return same, sum(n for _, n in known)


def agreement_figures(week: Week) -> Iterator[Figure]:
    for criterion in week.criteria():
        for slice_ in week.slices(PANEL + criterion) or ["all"]:
            yield from _judge(week.panel(criterion, slice_), criterion, slice_)
        panel = week.panel(criterion)
        yield from _raters(panel, criterion)
        yield from _gold(week, criterion)
        yield from _fit(week, criterion)
        yield _prior(week, criterion, panel)


def _judge(panel: Panel, criterion: str, slice_: str) -> Iterator[Figure]:
    seen, missing = confusion(panel), "labels by two raters or more; none has come for this week"
    scope = {"criterion": criterion, "slice": slice_}
    yield share(_J, "specificity", seen.caught, seen.fails, of="human fails", missing=missing, scope=scope)
    yield share(_J, "recall", seen.kept, seen.passes, of="human passes", missing=missing, scope=scope)
    weighted = _weighted(panel)
    yield value(_J, "specificity_in_production", weighted[0], of="human fails, weighted", n=seen.fails, scope=scope)
    yield value(_J, "recall_in_production", weighted[1], of="human passes, weighted", n=seen.passes, scope=scope)
    same, known = same_reasons(panel)
    unnamed = "human fails whose clause two raters or an adjudicator name; no label names one"
    of = "human fails of a known clause"
    yield share(_J, "reasoning_agreement", same, known, of=of, missing=unnamed, scope=scope)


def _weighted(panel: Panel) -> tuple[Number, Number]:
    """Spec and Rec of production: every item stands for 1 / inclusion probability items."""
    parts: dict[float, Counter[tuple[str, str]]] = {}
    for _, item, n in panel:
        if (gold := gold_of(item)) is not None:
            parts.setdefault(item.weight, Counter())[item.judge, gold] += n
    read = alignment_from_counts([AlignmentCounts(weight, pairs) for weight, pairs in parts.items()])
    return read.spec, read.rec


def _raters(panel: Panel, criterion: str) -> Iterator[Figure]:
    votes = [(Counter(vote for _, vote in item.votes), n) for _, item, n in panel]
    agreed, pairs = 0, 0
    state = AlphaState((FAIL, PASS))
    for cast, n in votes:
        m = cast.total()
        pairs += n * m * (m - 1) // 2
        agreed += n * sum(c * (c - 1) // 2 for c in cast.values())
        state.add((cast[FAIL], cast[PASS]), n)
    scope = {"criterion": criterion}
    yield share(_R, "raw_agreement", agreed, pairs, of="pairs of votes on one item", scope=scope)
    yield value(_R, "krippendorff_alpha", state.alpha(), of="votes", scope=scope)
    yield value(_R, "fleiss_kappa", _fleiss(votes), of="items with the same number of votes", scope=scope)
    for rater in sorted({rater for _, item, _ in panel for rater, _ in item.votes}):
        hit, n = leave_one_out(panel, rater)
        yield share(
            _R, "agreement_with_the_others", hit, n, of="items rated by three or more", scope={**scope, "rater": rater}
        )
    hit, n = judge_leave_one_out(panel)
    yield share(_J, "agreement_leave_one_out", hit, n, of="references without one rater", scope=scope)


def _fleiss(votes: Iterable[tuple[Counter[str], int]]) -> Number:
    tables = [(cast, n) for cast, n in votes for _ in range(n)]
    sizes = {cast.total() for cast, _ in tables}
    if len(sizes) > 1:
        return Unavailable("items have different numbers of votes; see alpha")
    fleiss = fleiss_kappa([(cast[FAIL], cast[PASS]) for cast, _ in tables])
    return fleiss if isinstance(fleiss, Unavailable) else fleiss.kappa


def leave_one_out(panel: Panel, rater: str) -> tuple[int, int]:
    """(agreed, compared) of one rater with the majority of the others."""
    hit = total = 0
    for _, item, n in panel:
        own, others = dict(item.votes).get(rater), reference(item.votes, without=rater)
        if own is not None and others is not None:
            hit, total = hit + n * (own == others), total + n
    return hit, total


def judge_leave_one_out(panel: Panel) -> tuple[int, int]:
    """The judge against the same references as the raters, one for each rater left out."""
    hit = total = 0
    for _, item, n in panel:
        for rater, _ in item.votes:
            if (others := reference(item.votes, without=rater)) is not None:
                hit, total = hit + n * (item.judge == others), total + n
    return hit, total


def gold_counts(week: Week, criterion: str) -> dict[str, tuple[int, int]]:
    """Rater -> (right, answered) on items with a known answer."""
    counted: dict[str, tuple[int, int]] = {}
    for cell, n in week.strata(GOLD).get(criterion, {}).items():
        rater, vote, known = cell.rsplit("|", 2)
        right, total = counted.get(rater, (0, 0))
        counted[rater] = (right + n * (vote == known), total + n)
    return counted


def _gold(week: Week, criterion: str) -> Iterator[Figure]:
    for rater, (right, n) in sorted(gold_counts(week, criterion).items()):
        yield share(
            _R, "gold_accuracy", right, n, of="gold items rated", scope={"rater": rater, "criterion": criterion}
        )


def _fit(week: Week, criterion: str) -> Iterator[Figure]:
    """Labels that were not checked at the door: what they name, and by which guidelines they were given."""
    fits = Counter(week.strata(LABELS).get(criterion, {}))
    scope = {"criterion": criterion}
    for fit, name in ((Fit.UNKNOWN_CLAUSE, "unknown_clause_rate"), (Fit.OTHER_GUIDELINES, "other_guidelines_rate")):
        yield share(_R, name, fits[fit], fits.total(), of="labels", scope=scope)


def _prior(week: Week, criterion: str, panel: Panel) -> Figure:
    """How many first drafts are really bad, from all of them and the labels' Spec and Rec (Rogan-Gladen)."""
    passed, decided = week.first_passes(criterion)
    seen, name, of = confusion(panel), "first_draft_defect_rate", "first drafts"
    if not decided or not seen.fails or not seen.passes:
        missing = Unavailable("needs first drafts, and labels of both kinds for Spec and Rec")
        return value(Health.GENERATOR, name, missing, of=of, scope={"criterion": criterion})
    read = rogan_gladen(
        1 - passed / decided, seen.caught / seen.fails, seen.kept / seen.passes, n=decided, n_fail=seen.fails,
        n_pass=seen.passes,
    )  # fmt: skip
    estimate = read if isinstance(read, Unavailable) else read.estimate
    return value(Health.GENERATOR, name, estimate, of=of, n=decided, scope={"criterion": criterion})
