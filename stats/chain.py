"""The gate and its revision loop as a small Markov chain: what is served, and how much of it is bad (S2 6.2).

An item is unfixable with probability u, else its first draft is bad with probability d. It draws a judge type once:
with probability rho persistent (always missed or always caught), else each bad draft is missed independently. The type
belongs to the item, so a defect that a revision introduces meets the same type; recall is always independent. Every
volume is therefore linear in rho: V(rho) = rho V(1) + (1 - rho) V(0).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from stats.checks import Floats, count, share
from stats.unavailable import Number, Unavailable, ratio

NOTHING_SERVED = "nothing served"
NO_REVISION = "nothing is served after a revision at a budget of 0"


class Volumes(NamedTuple):
    """Shares of all items by attempt k = 0..K: served good, served bad, and judged at all."""

    good: list[Floats | float]
    bad: list[Floats | float]
    judged: list[Floats | float]


@dataclass(frozen=True, slots=True)
class RetryOutcome:
    """What a retry budget does. Shares are of items; per_10k volumes are of 10,000 items; lists run over k = 0..K."""

    served: float
    drop: float
    defect_share: Number
    defects_per_10k: float
    drafts_per_item: float
    drafts_per_served: Number
    first_pass_defect_share: Number
    post_revision_defect_share: Number
    added_good_per_10k: float
    added_defects_per_10k: float
    by_attempt: tuple[Number, ...]
    good_by_attempt: tuple[float, ...]
    bad_by_attempt: tuple[float, ...]

    @property
    def served_by_attempt(self) -> tuple[float, ...]:
        return tuple(g + b for g, b in zip(self.good_by_attempt, self.bad_by_attempt, strict=True))


@dataclass(frozen=True, slots=True)
class ChainSettings:
    """The chain's assumptions; the defaults are those of S2 6.2. persistence is rho."""

    unfixable: float = 0.2
    first_defect: float = 0.6
    fix: float = 0.4
    regress: float = 0.1
    spec: float = 0.9
    rec: float = 0.8
    persistence: float = 0.5

    def __post_init__(self) -> None:
        for name in self.__slots__:
            share(name, getattr(self, name))

    @property
    def defect_prior(self) -> float:
        """Share of first drafts that are bad, unfixable items included."""
        return self.unfixable + (1 - self.unfixable) * self.first_defect


def no_judge(settings: ChainSettings | None = None) -> RetryOutcome:
    """Serve every first draft: what the loop is compared with."""
    prior = (settings or ChainSettings()).defect_prior
    return _outcome([1 - prior], [prior], 1.0)


def retry_chain(settings: ChainSettings | None = None, *, retry_budget: int = 3) -> RetryOutcome:
    """The loop's outcome at a retry budget K (K + 1 drafts at most).

    >>> o = retry_chain(retry_budget=3)
    >>> round(100 * o.served, 1), round(100 * o.defect_share, 1), round(o.defects_per_10k)
    (74.0, 15.9, 1176)
    """
    s, budget = settings or ChainSettings(), count("retry_budget", retry_budget)
    v = _volumes(s.unfixable, s.first_defect, s.fix, s.regress, s.spec, s.rec, s.persistence, budget)
    return _outcome([float(g) for g in v.good], [float(b) for b in v.bad], float(sum(v.judged)))


def persistence_from_share(
    defect_share: float, settings: ChainSettings | None = None, *, retry_budget: int = 3
) -> Number:
    """The rho at which the chain's post-revision stratum has this defect share; ``settings.persistence`` is not read.

    Unavailable where no rho gives it: above the share at rho 0 or below that at rho 1 the other assumptions are wrong,
    or defects ride along with caught ones. Source: S2 6.2.

    >>> round(persistence_from_share(0.1193), 2)
    0.5
    """
    x, s = share("defect_share", defect_share), settings or ChainSettings()
    fresh, sticky = (retry_chain(replace(s, persistence=rho), retry_budget=retry_budget) for rho in (0.0, 1.0))
    shares = (fresh.post_revision_defect_share, sticky.post_revision_defect_share)
    for one in shares:
        if isinstance(one, Unavailable):
            return one
    bad = [sum(o.bad_by_attempt[1:]) for o in (fresh, sticky)]
    served = [sum(o.served_by_attempt[1:]) for o in (fresh, sticky)]
    slope = (bad[1] - bad[0]) - x * (served[1] - served[0])
    rho = (x * served[0] - bad[0]) / slope if slope else -1.0
    if not -1e-9 <= rho <= 1 + 1e-9:
        return Unavailable(
            f"no persistence explains it: the share is {shares[1]:.1%} at rho 1 and {shares[0]:.1%} at 0"
        )
    return min(max(rho, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class ChainGrid:
    """A sweep of n settings. gap: post-revision minus first-pass defect share at rho 0; empty strata are left out."""

    n: int
    gap_min: float
    gap_max: float
    rho1_post_max: float


def chain_grid(
    *,
    first_defect: Sequence[float] = (0.1, 0.3, 0.5, 0.7, 0.9),
    unfixable: Sequence[float] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5),
    fix: Sequence[float] = (0.1, 0.3, 0.5, 0.7, 0.9),
    regress: Sequence[float] = (0.0, 0.1, 0.3),
    spec: Sequence[float] = (0.7, 0.8, 0.9, 0.95),
    rec: Sequence[float] = (0.6, 0.8, 0.95),
    retry_budget: int = 3,
) -> ChainGrid | None:
    """The 5,400-combination sweep of S2 6.2 in one vectorised pass; None if no combination serves after a revision.

    >>> g = chain_grid()
    >>> g.n, round(100 * g.gap_min), round(100 * g.gap_max), round(100 * g.rho1_post_max)
    (5400, -79, 72, 16)
    """
    axes = {"unfixable": unfixable, "first_defect": first_defect, "fix": fix}
    axes |= {"regress": regress, "spec": spec, "rec": rec}
    checked = [[share(name, value) for value in values] for name, values in axes.items()]
    columns = np.stack([axis.ravel() for axis in np.meshgrid(*checked, indexing="ij")])
    independent, persistent = (_strata_shares(columns, rho, count("retry_budget", retry_budget)) for rho in (0.0, 1.0))
    gaps = independent[1] - independent[0]
    gaps, post = gaps[np.isfinite(gaps)], persistent[1][np.isfinite(persistent[1])]
    if not len(gaps) or not len(post):
        return None
    return ChainGrid(columns.shape[1], float(gaps.min()), float(gaps.max()), float(post.max()))


def _strata_shares(columns: Floats, rho: float, budget: int) -> tuple[Floats, Floats]:
    """(first-pass, post-revision) defect share per combination; NaN inside where a stratum is empty, never returned."""
    u, d, fix, regress, spec, rec = columns
    v = _volumes(u, d, fix, regress, spec, rec, rho, budget)
    good, bad = (sum(volume[1:], start=np.zeros(len(u))) for volume in (v.good, v.bad))
    return _shares(v.bad[0], v.good[0] + v.bad[0]), _shares(bad, good + bad)


def _shares(part: Floats | float, whole: Floats | float) -> Floats:
    return np.asarray(np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=np.asarray(whole) > 0))


def _volumes(
    u: Floats | float,
    d: Floats | float,
    fix: Floats | float,
    regress: Floats | float,
    spec: Floats | float,
    rec: Floats | float,
    rho: float,
    budget: int,
) -> Volumes:
    """The three judge types, weighted: always missed, always caught, missed independently."""
    miss = 1 - spec
    types: list[tuple[Floats | float, Floats | float]] = []  # only those that occur: a sweep pays for no others
    if rho > 0:
        types += [(rho * miss, 1.0), (rho * spec, 0.0)]
    if rho < 1:
        types.append((1 - rho, miss))
    good: list[Floats | float] = [0.0] * (budget + 1)
    bad: list[Floats | float] = [0.0] * (budget + 1)
    judged: list[Floats | float] = [0.0] * (budget + 1)
    for weight, missed in types:
        fine, broken, hopeless = weight * (1 - u) * (1 - d), weight * (1 - u) * d, weight * u
        for k in range(budget + 1):
            judged[k] = judged[k] + fine + broken + hopeless
            good[k] = good[k] + rec * fine
            bad[k] = bad[k] + missed * (broken + hopeless)
            fine, broken, hopeless = (1 - rec) * fine, (1 - missed) * broken, (1 - missed) * hopeless
            fine, broken = fine * (1 - regress) + broken * fix, broken * (1 - fix) + fine * regress
    return Volumes(good, bad, judged)


def _outcome(good: list[float], bad: list[float], drafts: float) -> RetryOutcome:
    total_good, total_bad = sum(good), sum(bad)
    later_good, later_bad = sum(good[1:]), sum(bad[1:])
    served = total_good + total_bad
    after = ratio(later_bad, later_good + later_bad, NOTHING_SERVED if len(good) > 1 else NO_REVISION)
    return RetryOutcome(
        served=served,
        drop=1 - served,
        defect_share=ratio(total_bad, served, NOTHING_SERVED),
        defects_per_10k=10_000 * total_bad,
        drafts_per_item=drafts,
        drafts_per_served=ratio(drafts, served, NOTHING_SERVED),
        first_pass_defect_share=ratio(bad[0], good[0] + bad[0], NOTHING_SERVED),
        post_revision_defect_share=after,
        added_good_per_10k=10_000 * later_good,
        added_defects_per_10k=10_000 * later_bad,
        by_attempt=tuple(ratio(b, g + b, NOTHING_SERVED) for g, b in zip(good, bad, strict=True)),
        good_by_attempt=tuple(good),
        bad_by_attempt=tuple(bad),
    )
