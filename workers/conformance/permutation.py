"""Permutation: a winner that depends on the order of the two texts is no winner (S1, "Order fairness")."""

from __future__ import annotations

from collections.abc import Sequence

from stats.biases import OrderPairs, position_flip
from stats.verdicts import NON_DECISIONS
from workers.conformance.findings import Check, Finding, failed, not_applicable, passed, some, unavailable
from workers.conformance.ground import Ground
from workers.conformance.pairs import PairRun

_WINNERS = ("A", "B")


def fair(run: PairRun) -> bool:
    """Swapping the order swaps the verdict, or neutralises it (TIE or a non-decision)."""
    if run.resolved is None:
        return run.ab == run.ba or run.ab not in _WINNERS or run.ba not in _WINNERS
    return run.resolved == run.ab if run.ab == run.ba else run.resolved not in _WINNERS


def evaluate(runs: Sequence[PairRun]) -> Finding:
    """Every order-inconsistent pair must have ended in TIE or in a non-decision."""
    if not runs:
        return unavailable("no pair was compared")
    menu = {*_WINNERS, "TIE", *NON_DECISIONS}
    outside = [run.pair for run in runs if not {run.ab, run.ba, run.resolved or "TIE"} <= menu]
    if outside:
        return failed(f"{len(outside)} comparisons are outside the menu", pairs=len(runs), first=some(outside))
    flips = position_flip(OrderPairs.from_candidates([(run.ab, run.ba) for run in runs]))
    unfair = [run.pair for run in runs if not fair(run)]
    evidence = {"pairs": len(runs), "unfair": len(unfair), "flip_rate": flips.flip_rate,
                "reversal_rate": flips.reversal_rate}  # fmt: skip
    if unfair:
        return failed(f"{len(unfair)} of {len(runs)} pairs have a winner that depends on the order", **evidence,
                      first=some(unfair))  # fmt: skip
    if flips.n_decided == 0:
        return unavailable("no pair was decided in both orders", **evidence)
    return passed(f"{len(runs)} pairs in both orders: no winner depends on the order", **evidence)


async def check(ground: Ground) -> Finding:
    if ground.pairs is None:
        return not_applicable("the judge compares no pairs")
    return evaluate(ground.pairs)


CHECK = Check("permutation", "pairs whose winner depends on the order are TIE or undecided", check)
