"""The defect rate of what users see, with the guards that rare defects need (S2 6.3, 7.7)."""

from __future__ import annotations

from dataclasses import dataclass

from stats.checks import StatsInputError, count
from stats.ppi import Ppi, PpiSums, ppi_from_sums
from stats.proportions import Proportion, wilson
from stats.unavailable import Unavailable

MIN_DEFECTS = 20
"""Below this many labelled defects lam stays 1: a tuned lam covered 60 % where 95 % was claimed (p = 1 %, n = 100)."""


@dataclass(frozen=True, slots=True)
class ServedDefectRate:
    """human: from the labels alone (Wilson), always publishable. ppi: with the audit judge, or why not.

    best, lo, hi: what to publish: PPI clipped to [0, 1] where it has an interval, else the human estimate.
    """

    best: float
    lo: float
    hi: float
    source: str
    human: Proportion
    ppi: Ppi | Unavailable
    tuned: bool


def served_defect_rate(
    sums: PpiSums, *, conf: float = 0.95, min_defects: int = MIN_DEFECTS
) -> ServedDefectRate | Unavailable:
    """The served strata's defect rate from human labels and an audit judge's verdicts (1 = defect in both).

    The labelled items must be a uniform draw from what was served. PPI++ only with ``min_defects`` labelled defects on
    record and as many labelled non-defects; without any defect among the labels PPI's interval does not see the rare
    ones, so the human interval is published. Unavailable without a label.
    """
    n = count("n", sums.n)
    defects = count("sy", int(sums.sy))
    if defects != sums.sy or sums.syy != sums.sy:
        raise StatsInputError("sy", sums.sy, "must be a sum of labels 0 and 1")
    human = wilson(defects, n, conf=conf)
    if isinstance(human, Unavailable):
        return human
    tuned = min(defects, n - defects) >= count("min_defects", min_defects)
    ppi = ppi_from_sums(sums, lam=None if tuned else 1.0, conf=conf, ddof=1)
    if defects in (0, n) and not isinstance(ppi, Unavailable):
        ppi = Unavailable("the labels are all of one kind: the rectifier has seen only one side")
    if isinstance(ppi, Unavailable) or isinstance(ppi.lo, Unavailable) or isinstance(ppi.hi, Unavailable):
        return ServedDefectRate(human.p, human.lo, human.hi, "human labels", human, ppi, False)
    return ServedDefectRate(_clip(ppi.estimate), _clip(ppi.lo), _clip(ppi.hi), "ppi", human, ppi, tuned)


def _clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)
