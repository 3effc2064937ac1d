"""Accuracy against gold: coverage first, a point never without its interval, and nothing at all at m = 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from schemas.verdict_space import Label
from stats.proportions import Proportion, clopper_pearson, wilson
from stats.unavailable import jsonable, ratio
from stats.verdicts import run_rates
from workers.conformance.findings import Check, Finding, failed, passed, unavailable
from workers.conformance.ground import GoldRun, Ground


class Labelled(NamedTuple):
    """What the judge said of one criterion of one draft, and its gold label."""

    judge: str
    gold: str


def evaluate(labelled: Sequence[Labelled], *, minimum_coverage: float) -> Finding:
    """X / m over every gold-labelled run. A non-decision matches only the same in gold, so that on a pass it is a miss.

    Decided-run and labelled-run rates are both given, each with its denominator in its name (S1, "Verdict space").
    """
    m = len(labelled)
    if m == 0:
        return unavailable("m = 0: no run has a gold label, so there is no accuracy and no interval", m=0)
    outside = [one for one in labelled if one.judge not in tuple(Label)]
    if outside:
        return failed(f"{len(outside)} verdicts on gold drafts are outside the menu", m=m)
    share = ratio(sum(Label(one.judge).decided for one in labelled), m, "nothing was judged")
    evidence: dict[str, Any] = {"coverage": share, "m": m}
    if share < minimum_coverage:
        detail = f"only {share:.1%} of {m} gold runs are decided: no accuracy is announced from what is left"
        return unavailable(detail, **evidence)
    x = sum(one.judge == one.gold for one in labelled)
    interval, exact = wilson(x, m), clopper_pearson(x, m)
    assert isinstance(interval, Proportion)
    evidence |= {"wilson": jsonable(interval), "clopper_pearson": jsonable(exact), "rates": _rates(labelled)}
    told = f"accuracy {x}/{m} = {interval.p:.3f}, Wilson 95% {interval.lo:.3f} to {interval.hi:.3f}"
    return passed(f"{told}; coverage {share:.1%}", **evidence)


def _rates(labelled: Sequence[Labelled]) -> Any:
    return jsonable(run_rates([one.judge for one in labelled], [one.gold for one in labelled]))


def labelled(gold: Sequence[GoldRun]) -> list[Labelled]:
    """One row a criterion with a gold label. A criterion without a verdict has abstained: it is never left out."""
    return [
        Labelled(one.run.labels.get(criterion, Label.ABSTAIN), label)
        for one in gold
        for criterion, label in one.gold.items()
    ]


async def check(ground: Ground) -> Finding:
    return evaluate(labelled(ground.gold), minimum_coverage=ground.min_coverage)


CHECK = Check("accuracy", "with m >= 1 gold runs an interval; with m = 0 accuracy is unavailable", check, True)
