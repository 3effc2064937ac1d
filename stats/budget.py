"""Which retry budget pays? Each further attempt is weighed by what it adds (S2 6.2, 7.3)."""

from __future__ import annotations

from dataclasses import dataclass

from stats.chain import ChainSettings, RetryOutcome, retry_chain
from stats.checks import count, real
from stats.retries import break_even_from_costs, net_value
from stats.unavailable import Number, Unavailable


@dataclass(frozen=True, slots=True)
class BudgetStep:
    """What attempt k adds per 10,000 items, and whether that extra coverage is worth having.

    net_value: in the charter's cost units, regenerations paid. pays: net_value > 0. Attempt 0 is the gate itself.
    """

    attempt: int
    pass_rate: float
    added_good_per_10k: float
    added_defects_per_10k: float
    defects_per_10k: float
    defect_share: Number
    drafts_per_item: float
    net_value: float
    pays: bool


@dataclass(frozen=True, slots=True)
class BudgetChoice:
    """best_budget: the K of the highest total value; unavailable when even the first pass loses (serve nothing)."""

    break_even: Number
    best_budget: int | Unavailable
    steps: tuple[BudgetStep, ...]

    @property
    def first_pass_pays(self) -> bool:
        return self.steps[0].pays


def choose_budget(
    settings: ChainSettings | None = None,
    *,
    max_budget: int = 12,
    drop_good: float = 1.0,
    serve_defect: float = 50.0,
    regenerate: float = 0.0,
) -> BudgetChoice:
    """Weigh every budget from 0 to ``max_budget`` by the charter's three costs.

    With the defaults of S2 6.2 at 50 : 1 not even the first pass pays:

    >>> c = choose_budget(max_budget=3)
    >>> round(c.steps[0].net_value), c.best_budget.reason
    (-31440, 'the first pass loses and no retry makes up for it: serve nothing')
    """
    for name, value in (("drop_good", drop_good), ("serve_defect", serve_defect), ("regenerate", regenerate)):
        real(name, value, at_least=0.0)
    outcome = retry_chain(settings, retry_budget=count("max_budget", max_budget))
    steps = _steps(outcome, drop_good, serve_defect, regenerate)
    totals = [sum(step.net_value for step in steps[: k + 1]) for k in range(len(steps))]
    best: int | Unavailable = max(range(len(totals)), key=totals.__getitem__)
    if max(totals) <= 0:
        best = Unavailable("the first pass loses and no retry makes up for it: serve nothing")
    return BudgetChoice(break_even_from_costs(drop_good=drop_good, serve_defect=serve_defect), best, steps)


def _steps(o: RetryOutcome, drop_good: float, serve_defect: float, regenerate: float) -> tuple[BudgetStep, ...]:
    steps = []
    passed = bad_so_far = 0.0
    drafts = 1.0
    for k, (good, bad) in enumerate(zip(o.good_by_attempt, o.bad_by_attempt, strict=True)):
        regenerated = 10_000 * (1 - passed) if k else 0.0
        drafts += 1 - passed if k else 0.0
        passed, bad_so_far = passed + good + bad, bad_so_far + bad
        value = net_value(
            10_000 * good,
            10_000 * bad,
            drop_good=drop_good,
            serve_defect=serve_defect,
            regenerations=regenerated,
            regenerate=regenerate,
        )
        steps.append(
            BudgetStep(
                attempt=k,
                pass_rate=passed,
                added_good_per_10k=10_000 * good,
                added_defects_per_10k=10_000 * bad,
                defects_per_10k=10_000 * bad_so_far,
                defect_share=o.by_attempt[k],
                drafts_per_item=drafts,
                net_value=value,
                pays=value > 0,
            )
        )
    return tuple(steps)
