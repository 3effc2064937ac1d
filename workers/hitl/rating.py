"""How well raters agree with each other, and with what is known: read before any judge is compared with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from schemas.labels import Fit, HumanLabel, HumanVote, LabelTask, SampledItem, TaskKind, fit_of
from stats.agreement import RetestAgreement, retest_agreement
from stats.alpha import alpha_bootstrap, krippendorff_alpha
from stats.kappa import cohen_kappa_labels
from stats.proportions import Proportion, wilson
from stats.resampling import Percentiles
from stats.unavailable import Number, Unavailable, ratio
from workers.hitl.life import Life, life_of

_VOTES = (HumanVote.PASS, HumanVote.FAIL)


@dataclass(frozen=True, slots=True)
class Agreement:
    """raw: agreeing pairs of votes over all pairs; fails: share of fails among decided votes (the prevalence).

    ``measure`` is kappa for two raters, alpha for more; lo and hi its 95 % interval. ``cannot_tell`` votes are missing
    ratings, counted beside.
    """

    items: int
    raters: int
    raw: Number
    fails: Number
    measure: str
    value: Number
    lo: Number
    hi: Number
    cannot_tell: int


def lives(tasks: Iterable[LabelTask], labels: Sequence[HumanLabel]) -> dict[tuple[str, str], Life]:
    """Where every criterion of every task stands, by (task id, criterion)."""
    by_task: dict[str, list[HumanLabel]] = {}
    for label in labels:
        by_task.setdefault(label.task_id, []).append(label)
    return {
        (task.task_id, criterion): life_of(task, criterion, by_task.get(task.task_id, ()))
        for task in tasks
        for criterion in task.criteria
    }


def fits(
    labels: Iterable[HumanLabel], tasks: Mapping[str, LabelTask], sampled: Mapping[str, SampledItem]
) -> Counter[Fit]:
    """How many labels fit the guidelines of their task. Raters' tools write to the topic too, and nobody checks there.

    ``labels``: the newest of each rater; those taken back, and those of no known task, are passed over.
    """
    counted: Counter[Fit] = Counter()
    for label in labels:
        if not label.retracted and (task := tasks.get(label.task_id)) is not None:
            item = sampled.get(label.task_id)
            clauses = item.guideline_clauses if item else ()
            counted[fit_of(label.guideline_version, label.clause, asked=task.guideline_version, clauses=clauses)] += 1
    return counted


def agreement(units: Sequence[Sequence[HumanLabel]], *, seed: int = 0) -> Agreement:
    """Raters against raters. ``units``: the counted votes of each item on one criterion, gold items left out."""
    ratings = [{v.rater_id: v.vote for v in unit if v.vote in _VOTES} for unit in units]
    raters = sorted({rater for unit in ratings for rater in unit})
    table = [[unit.get(rater) for unit in ratings] for rater in raters]
    decided = [vote for unit in ratings for vote in unit.values()]
    pairs = retest_agreement([list(unit.values()) for unit in ratings])
    measure, value, lo, hi = _beyond_chance(table, seed)
    return Agreement(
        items=sum(len(unit) >= 2 for unit in ratings),
        raters=len(raters),
        raw=pairs.pairwise if isinstance(pairs, RetestAgreement) else Unavailable("no item has two decided votes"),
        fails=ratio(decided.count(HumanVote.FAIL), len(decided), "no decided vote"),
        measure=measure,
        value=value,
        lo=lo,
        hi=hi,
        cannot_tell=sum(len(unit) for unit in units) - len(decided),
    )


def gold_accuracy(
    labels: Iterable[HumanLabel], sampled: Mapping[str, SampledItem]
) -> dict[str, Proportion | Unavailable]:
    """Per rater: right answers on gold items over those given, with Wilson's interval. ``cannot_tell`` is no answer."""
    right: dict[str, int] = {}
    given: dict[str, int] = {}
    for label in labels:
        item = sampled.get(label.task_id)
        if item is None or item.kind is not TaskKind.GOLD or label.retracted or label.vote not in _VOTES:
            continue
        if (known := item.gold_votes.get(label.criterion_id)) is None:
            continue
        given[label.rater_id] = given.get(label.rater_id, 0) + 1
        right[label.rater_id] = right.get(label.rater_id, 0) + (label.vote is known)
    return {rater: wilson(right[rater], given[rater]) for rater in sorted(given)}


def _beyond_chance(table: Sequence[Sequence[HumanVote | None]], seed: int) -> tuple[str, Number, Number, Number]:
    if len(table) == 2:
        kappa = cohen_kappa_labels(table[0], table[1], labels=_VOTES)
        if isinstance(kappa, Unavailable):
            return "kappa", kappa, kappa, kappa
        return "kappa", kappa.kappa, kappa.lo, kappa.hi
    if not table:
        nothing = Unavailable("nobody has voted")
        return "alpha", nothing, nothing, nothing
    value = krippendorff_alpha(table, domain=_VOTES)
    if isinstance(value, Unavailable):
        return "alpha", value, value, value
    interval: Percentiles | Unavailable = alpha_bootstrap(table, rng=np.random.default_rng(seed), domain=_VOTES)
    if isinstance(interval, Unavailable):
        return "alpha", value, interval, interval
    return "alpha", value, interval.lo, interval.hi
