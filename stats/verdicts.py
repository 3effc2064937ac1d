"""The judge's menu, and the rates that keep its non-decisions apart (S1 "Verdict space")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stats.checks import count, labels, same_length
from stats.proportions import Proportion, wilson
from stats.unavailable import Number, Unavailable, ratio

PASS, FAIL = "pass", "fail"
NON_DECISIONS = ("abstain", "not_applicable", "missing_evidence", "not_implemented")
MENU = (PASS, FAIL, *NON_DECISIONS)

Pairs = Mapping[tuple[str, str], int]
"""How often the judge said the first while gold said the second."""


def coverage(verdicts: Sequence[str]) -> Number:
    """Share of verdicts that are decisions; every non-decision, not_applicable too, is in the denominator.

    Unavailable when nothing was judged.

    >>> coverage(["pass", "fail", "abstain", "not_applicable"])
    0.5
    """
    menu = labels("verdicts", verdicts, MENU)
    return ratio(sum(v in (PASS, FAIL) for v in menu), len(menu), "nothing was judged")


@dataclass(frozen=True, slots=True)
class RunRates:
    """Every name starts with its denominator. decided: runs that the judge decided; labeled: every gold-labelled run.

    A non-decision on a fail-labelled run is neither a caught fail nor a false pass, so ``labeled_spec`` and
    ``labeled_false_pass_rate`` need not add up to 1.
    """

    decided_spec: Number
    decided_rec: Number
    decided_false_pass_rate: Number
    decided_false_fail_rate: Number
    labeled_spec: Number
    labeled_rec: Number
    labeled_false_pass_rate: Number
    labeled_false_fail_rate: Number
    labeled_miss_rate_pass: Number
    n_decided_fail: int
    n_decided_pass: int
    n_labeled_fail: int
    n_labeled_pass: int


def run_rates(judge: Sequence[str], gold: Sequence[str | None]) -> RunRates:
    """Decided-run and labelled-run rates of one judge against gold; runs without a pass/fail gold label are left out.

    Source: S1 "Verdict space": an abstention on a pass-labelled run is a miss on that side.
    """
    same_length(judge=judge, gold=gold)
    labels("judge", judge, MENU)
    labels("gold", gold, MENU, optional=True)
    return run_rates_from_pairs(Counter((j, g) for j, g in zip(judge, gold, strict=True) if g in (PASS, FAIL)))


def run_rates_from_pairs(pairs: Pairs) -> RunRates:
    """The same from mergeable counts of (judge, gold)."""
    said = {key: count(f"pairs[{key}]", n) for key, n in pairs.items()}
    fail = sum(n for (_, g), n in said.items() if g == FAIL)
    passed = sum(n for (_, g), n in said.items() if g == PASS)
    caught, missed = said.get((FAIL, FAIL), 0), said.get((PASS, FAIL), 0)
    kept, refused = said.get((PASS, PASS), 0), said.get((FAIL, PASS), 0)
    decided_fail, decided_pass = caught + missed, kept + refused
    no_fail, no_pass = "no human fail", "no human pass"
    undecided_fail, undecided_pass = "no decided run on a human fail", "no decided run on a human pass"
    return RunRates(
        decided_spec=ratio(caught, decided_fail, undecided_fail),
        decided_rec=ratio(kept, decided_pass, undecided_pass),
        decided_false_pass_rate=ratio(missed, decided_fail, undecided_fail),
        decided_false_fail_rate=ratio(refused, decided_pass, undecided_pass),
        labeled_spec=ratio(caught, fail, no_fail),
        labeled_rec=ratio(kept, passed, no_pass),
        labeled_false_pass_rate=ratio(missed, fail, no_fail),
        labeled_false_fail_rate=ratio(refused, passed, no_pass),
        labeled_miss_rate_pass=ratio(passed - kept, passed, no_pass),
        n_decided_fail=decided_fail,
        n_decided_pass=decided_pass,
        n_labeled_fail=fail,
        n_labeled_pass=passed,
    )


def accuracy(judge: Sequence[str], gold: Sequence[str | None], *, conf: float = 0.95) -> Proportion | Unavailable:
    """X / m against gold with its Wilson interval; an abstain matches gold only where gold abstains too.

    Runs without gold are left out; unavailable when none is left.
    """
    same_length(judge=judge, gold=gold)
    labels("judge", judge, MENU)
    labels("gold", gold, MENU, optional=True)
    judged = [(j, g) for j, g in zip(judge, gold, strict=True) if g is not None]
    return wilson(sum(j == g for j, g in judged), len(judged), conf=conf)
