"""What the audit judge and people together say of served drafts, and how texts hedge after revision (S2 6.3, 6.6)."""

from __future__ import annotations

from collections.abc import Iterator

from schemas.reports import Figure, Health
from stats.biases import family_gap
from stats.ppi import PpiSums
from stats.served import served_defect_rate
from stats.unavailable import Unavailable
from stats.verdicts import FAIL, PASS
from workers.stats_consumer.cells import AUDITED, FIRST, HEDGING, PPI, REVISED
from workers.stats_consumer.figure import share, value
from workers.stats_consumer.week import Week

_S = Health.SERVED


def audit_figures(week: Week) -> Iterator[Figure]:
    """The audit judge's own defect rate of everything it saw, and the one that the labels correct.

    One week only: its audit labels are a uniform draw from what it served, those of several weeks together are not.
    """
    seen = week.cells(AUDITED)
    none = "verdicts of an audit judge on what was served: the charter's bindings name none"
    yield share(_S, "audit_judge_defect_rate", seen[FAIL], seen[FAIL] + seen[PASS], of="audited drafts", missing=none)
    name, of = "prediction_powered_defect_rate", "served items of the week"
    sums = ppi_sums(week)
    if isinstance(sums, Unavailable):
        yield value(_S, name, sums, of=of)
        return
    read = served_defect_rate(sums)
    if isinstance(read, Unavailable):
        yield value(_S, name, read, of=of)
    elif isinstance(read.ppi, Unavailable):
        yield value(_S, name, read.ppi, of=of, n=sums.n)
    elif read.source != "ppi":
        yield value(_S, name, Unavailable("the labels show no spread: see audited_defect_rate"), of=of, n=sums.n)
    else:
        yield value(_S, name, read.best, of=of, lo=read.lo, hi=read.hi, n=sums.n)


def ppi_sums(week: Week) -> PpiSums | Unavailable:
    """1 = defect, for people (y) and for the audit judge (f). Drafts on which it did not decide are left out."""
    seen, both = week.cells(AUDITED), week.cells(PPI)
    if not seen[FAIL] + seen[PASS]:
        return Unavailable("an audit judge's verdicts on what was served")
    if not both:
        return Unavailable("labels of a uniform draw of audited drafts: `assay sample --audit N`")
    n, f = both.total(), both[f"{FAIL}|defect"] + both[f"{FAIL}|ok"]
    y, yf = both[f"{FAIL}|defect"] + both[f"{PASS}|defect"], both[f"{FAIL}|defect"]
    others, flagged = seen[FAIL] + seen[PASS] - n, seen[FAIL] - f
    if not 0 <= flagged <= others:
        return Unavailable("attempt records of the labelled drafts: some were counted in no week or another one")
    return PpiSums(n, y, y, f, f, yf, others, flagged, flagged)


def hedging_figures(week: Week) -> Iterator[Figure]:
    """The share of words that take a statement half back, per stratum, and its rise by revision (Newcombe)."""
    counted = {stratum: week.cells(HEDGING, strata=[stratum]) for stratum in (FIRST, REVISED)}
    missing = "served texts whose hedging words were counted: see ASSAY_HEDGING_WORDS"
    for stratum, cells in counted.items():
        scope = {"drafts": stratum}
        yield share(
            _S, "hedging_rate", cells["hedges"], cells["words"], of="words served", missing=missing, scope=scope
        )
    sides = [(counted[stratum]["hedges"], counted[stratum]["words"]) for stratum in (REVISED, FIRST)]
    gap = family_gap(*sides)
    if isinstance(gap, Unavailable):
        yield value(_S, "hedging_rise", Unavailable(missing))
    else:
        yield value(_S, "hedging_rise", gap.gap, of="revised minus first, shares of words", lo=gap.lo, hi=gap.hi)
