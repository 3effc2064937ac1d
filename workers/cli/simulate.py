"""``assay simulate``: what do retries serve, what do they leak, and which retry budget pays?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from stats.budget import BudgetChoice, choose_budget
from stats.chain import ChainSettings, RetryOutcome, no_judge, persistence_from_share, retry_chain
from stats.retries import leak, net_value
from stats.unavailable import Number, Unavailable, jsonable
from workers.cli.answers import at_most, plain_errors, share, shown
from workers.cli.output import console, fail, notes, print_json

LEAK_SPECS = (0.80, 0.90, 0.95, 0.99)
LABELS = {
    "served_rate": ("served", "{:.1%}"),
    "defect_share": ("bad share of served", "{:.1%}"),
    "defects_per_10k": ("defects served", "{:,.0f}"),
    "drop_rate": ("dropped", "{:.1%}"),
    "drafts_per_item": ("drafts an item", "{:.2f}"),
    "drafts_per_served": ("drafts a served item", "{:.2f}"),
    "first_pass_defect_share": ("bad share, first pass", "{:.1%}"),
    "post_revision_defect_share": ("bad share, after revision", "{:.1%}"),
    "added_good_per_10k": ("good items that retries add", "{:,.0f}"),
    "added_defects_per_10k": ("defects that retries add", "{:,.0f}"),
    "retries_net_value": ("net value of retries", "{:,.0f}"),
}


def register(parent: typer.Typer) -> None:
    """Add ``simulate`` to the command line."""
    parent.command()(simulate)


def simulate(
    unfixable: Annotated[float, typer.Option(help="Share of items that no revision can fix.")] = 0.2,
    first_defect: Annotated[float, typer.Option(help="Share of bad first drafts among the fixable.")] = 0.6,
    fix: Annotated[float, typer.Option(help="Chance that a revision fixes a bad draft.")] = 0.4,
    regress: Annotated[float, typer.Option(help="Chance that a revision breaks a good draft.")] = 0.1,
    spec: Annotated[float, typer.Option(help="Specificity: share of bad drafts that the judge fails.")] = 0.9,
    rec: Annotated[float, typer.Option(help="Recall: share of good drafts that the judge passes.")] = 0.8,
    persistence: Annotated[
        float,
        typer.Option("--persistence", "--rho", help="How far misses stick to an item: 0 fresh, 1 always the same."),
    ] = 0.5,
    retries: Annotated[int, typer.Option(help="Retry budget K.")] = 3,
    max_retries: Annotated[int, typer.Option(help="Largest budget to weigh and to plot.")] = 8,
    drop_good: Annotated[float, typer.Option(help="Charter: loss when a good item is not served.")] = 1.0,
    serve_defect: Annotated[float, typer.Option(help="Charter: loss when a defect is served.")] = 50.0,
    regenerate: Annotated[float, typer.Option(help="Charter: cost of one regeneration.")] = 0.0,
    observed: Annotated[
        float | None,
        typer.Option(help="Bad share that people found after revision: which persistence does it speak for?"),
    ] = None,
    table: Annotated[bool, typer.Option("--table", help="Compare no judge, gate only and retries.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the curves into this .svg or .png file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON document instead of text.")] = False,
) -> None:
    """What do retries serve, what do they leak, and which retry budget pays?

    A small model of the revision loop with your own numbers. It treats a draft as good or bad as a whole, so defects
    that ride along with a caught one come on top: confirm with labels from the served-after-revision stratum.
    """
    at_most(200, retries=retries, max_retries=max_retries)
    with plain_errors(max_budget="max_retries"):
        settings = ChainSettings(unfixable, first_defect, fix, regress, spec, rec, persistence)
        costs = {"drop_good": drop_good, "serve_defect": serve_defect, "regenerate": regenerate}
        choice = choose_budget(settings, max_budget=max_retries, **costs)
        outcome = retry_chain(settings, retry_budget=retries)
        found = None if observed is None else persistence_from_share(observed, settings, retry_budget=retries)
        rows = comparison(settings, retries, drop_good=drop_good, serve_defect=serve_defect)
    if plot is not None:
        draw(plot, settings, choice, costs)
    if json:
        print_json(
            jsonable(
                rows
                if table
                else {"settings": settings, "retries": retries, "outcome": numbers(outcome), "budgets": choice}
                | ({} if found is None else {"observed": observed, "persistence_observed": found})
            )
        )
    elif table:
        _print_comparison(rows)
        _print_leaks(retries)
    else:
        _print_outcome(outcome, retries)
        _print_choice(choice)
    if found is not None and not json:
        _print_persistence(observed, found)


def comparison(settings: ChainSettings, retries: int, *, drop_good: float, serve_defect: float) -> list[dict[str, Any]]:
    """The settings side by side: no judge, gate only, retries at the given persistence, at 0 and at 1."""
    rows = [{"setting": "no judge"} | numbers(no_judge(settings))]
    rows.append({"setting": "gate only (K=0)"} | numbers(retry_chain(settings, retry_budget=0)))
    for rho in dict.fromkeys((settings.persistence, 0.0, 1.0)):
        outcome = retry_chain(replace(settings, persistence=rho), retry_budget=retries)
        rows.append({"setting": f"gate + critic (K={retries}, rho={rho:g})"} | numbers(outcome))
    for row in rows:
        good, bad = row["added_good_per_10k"], row["added_defects_per_10k"]
        row["retries_net_value"] = net_value(good, bad, drop_good=drop_good, serve_defect=serve_defect)
    return rows


def numbers(o: RetryOutcome) -> dict[str, Any]:
    return {
        "served_rate": o.served,
        "defect_share": o.defect_share,
        "defects_per_10k": o.defects_per_10k,
        "drafts_per_item": o.drafts_per_item,
        "post_revision_defect_share": o.post_revision_defect_share,
        "first_pass_defect_share": o.first_pass_defect_share,
        "drop_rate": o.drop,
        "drafts_per_served": o.drafts_per_served,
        "added_good_per_10k": o.added_good_per_10k,
        "added_defects_per_10k": o.added_defects_per_10k,
    }


def draw(path: Path, settings: ChainSettings, choice: BudgetChoice, costs: dict[str, float]) -> None:
    if path.suffix not in (".svg", ".png"):
        fail(f"--plot must name a .svg or .png file, not {path.name}")
    try:
        from workers.cli.simulate_plot import draw_curves
    except ModuleNotFoundError as error:
        fail(f"--plot needs {error.name}: pip install 'assay[plots]'")
    try:
        draw_curves(path, settings, choice, **costs)
    except OSError as error:
        fail(f"--plot cannot write {path}: {error.strerror}")
    notes.print(f"drew {path}", style="dim", markup=False, highlight=False)


def _print_outcome(o: RetryOutcome, retries: int) -> None:
    console.print(
        f"With {retries} retries {share(o.served)} of items are served, {share(o.defect_share)} of them bad: "
        f"{o.defects_per_10k:,.0f} defects per 10,000 items, {o.drafts_per_item:.2f} drafts an item.",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


def _print_persistence(observed: float | None, found: Number) -> None:
    told = f": {found.reason}" if isinstance(found, Unavailable) else f" speaks for a persistence (rho) of {found:.2f}"
    text = f"A bad share of {share(observed)} after revision{told}."
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def _print_choice(choice: BudgetChoice) -> None:
    table = Table(
        "K", "passed", "added good", "added bad", "step's bad share", "net value", "pays", box=None, pad_edge=False
    )
    for step in choice.steps:
        table.add_row(
            str(step.attempt),
            share(step.pass_rate),
            f"{step.added_good_per_10k:,.0f}",
            f"{step.added_defects_per_10k:,.0f}",
            share(step.defect_share),
            f"{step.net_value:,.0f}",
            "yes" if step.pays else "no",
        )
    console.print(table)
    best = choice.best_budget
    advice = f"no budget: {best.reason}" if isinstance(best, Unavailable) else f"K = {best}"
    console.print(f"break-even defect share {shown(choice.break_even)}; per 10,000 items; best: {advice}", style="bold")


def _print_comparison(rows: list[dict[str, Any]]) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("shares, or per 10,000 items", no_wrap=True)
    for row in rows:
        heading = row["setting"].partition(" (")[2].rstrip(")") or row["setting"]
        table.add_column(heading.replace(", ", "\n"), justify="right", no_wrap=True)
    for key, (label, form) in LABELS.items():
        cells = ("-" if isinstance(row[key], Unavailable) else form.format(row[key]) for row in rows)
        table.add_row(label, *cells)
    console.print(table, "")


def _print_leaks(retries: int) -> None:
    table = Table("leak of an unfixable defect", *(f"K={k}" for k in range(retries + 1)), box=None, pad_edge=False)
    for spec in LEAK_SPECS:
        table.add_row(f"Specificity {spec:.2f}", *(share(leak(spec, k)) for k in range(retries + 1)))
    console.print(table)
