"""The retry-budget picture: what passes, what slips through, and where a further retry stops paying."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter, StrMethodFormatter

from stats.budget import BudgetChoice, choose_budget
from stats.chain import ChainSettings
from stats.unavailable import Unavailable

GOOD, BAD, LINE, FAINT = "#2a7f62", "#b3402a", "#333333", "#b9b9b9"


def draw_curves(path: Path, settings: ChainSettings, choice: BudgetChoice, **costs: float) -> None:
    """Three panels over the retry budget K: cumulative pass rate, defects served, bad share of each step."""
    figure = Figure(figsize=(13, 4.4), layout="constrained")
    passes, defects, steps = figure.subplots(1, 3)
    budgets = [step.attempt for step in choice.steps]
    around = [choose_budget(replace(settings, persistence=rho), max_budget=budgets[-1], **costs) for rho in (0.0, 1.0)]
    _pass_rate(passes, budgets, choice)
    _defects(defects, budgets, choice, around)
    _steps(steps, budgets, choice, around)
    for axes in (passes, defects, steps):
        _dress(axes)
    figure.suptitle(
        f"Spec {settings.spec:g}, Rec {settings.rec:g}, rho {settings.persistence:g}, "
        f"{settings.defect_prior:.0%} of first drafts bad, {settings.unfixable:.0%} of items unfixable; "
        f"costs: good item dropped {costs['drop_good']:g}, defect served {costs['serve_defect']:g}",
        fontsize=10,
        color=LINE,
    )
    figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)


def _pass_rate(axes: Any, budgets: list[int], choice: BudgetChoice) -> None:
    passed = [step.pass_rate for step in choice.steps]
    bad = [step.defects_per_10k / 10_000 for step in choice.steps]
    good = [p - b for p, b in zip(passed, bad, strict=True)]
    axes.fill_between(budgets, 0, good, color=GOOD, alpha=0.25, linewidth=0, label="good")
    axes.fill_between(budgets, good, passed, color=BAD, alpha=0.35, linewidth=0, label="bad")
    axes.plot(budgets, passed, color=LINE, marker="o", markersize=4, label="passed by the judge")
    axes.set(title="Items served", ylim=(0, 1))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.legend(frameon=False, fontsize=9, loc="upper left")


def _defects(axes: Any, budgets: list[int], choice: BudgetChoice, around: list[BudgetChoice]) -> None:
    for other, label in zip(around, ("misses independent (rho 0)", "misses persistent (rho 1)"), strict=True):
        axes.plot(budgets, [s.defects_per_10k for s in other.steps], color=FAINT, linestyle="-", linewidth=1.2)
        axes.annotate(
            label, (budgets[-1], other.steps[-1].defects_per_10k), xytext=(0, 5), textcoords="offset points",
            ha="right", fontsize=8, color="#777777",
        )  # fmt: skip
    axes.plot(budgets, [s.defects_per_10k for s in choice.steps], color=BAD, marker="o", markersize=4, label="served")
    if not isinstance(choice.break_even, Unavailable) and choice.break_even < 1:
        odds = choice.break_even / (1 - choice.break_even)
        good = [sum(s.added_good_per_10k for s in choice.steps[: k + 1]) for k in range(len(budgets))]
        axes.plot(
            budgets,
            [odds * g for g in good],
            color=LINE,
            linestyle="--",
            label="break-even: what the good ones pay for",
        )
    axes.set(title="Defects served per 10,000 items")
    axes.set_ylim(0, 1.22 * axes.get_ylim()[1])  # room for the legend
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.legend(frameon=False, fontsize=9, loc="upper left")


def _steps(axes: Any, budgets: list[int], choice: BudgetChoice, around: list[BudgetChoice]) -> None:
    for other in around:
        axes.plot(*_known(budgets, other), color=FAINT, linewidth=1.2)
    axes.plot(*_known(budgets, choice), color=BAD, marker="o", markersize=4, label="items first served at attempt K")
    if not isinstance(choice.break_even, Unavailable):
        axes.axhline(choice.break_even, color=LINE, linestyle="--", label=f"break-even {choice.break_even:.1%}")
    axes.set(title="Bad share of each step")
    axes.set_ylim(0, 1.18 * axes.get_ylim()[1])
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.legend(frameon=False, fontsize=9, loc="upper left")


def _known(budgets: list[int], choice: BudgetChoice) -> tuple[list[int], list[float]]:
    """The steps that serve anything: an empty step has no share and no point."""
    pairs = [
        (k, step.defect_share)
        for k, step in zip(budgets, choice.steps, strict=True)
        if not isinstance(step.defect_share, Unavailable)
    ]
    return [k for k, _ in pairs], [value for _, value in pairs]


def _dress(axes: Any) -> None:
    axes.set_xlabel("retry budget K")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#eeeeee")
    axes.set_axisbelow(True)
