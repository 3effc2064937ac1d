"""The part of ``assay plan`` about running: canary, band, retries, and the weekly bill."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer

from stats.band_theory import band_false_alarm, band_width, multiplicity, prob_run
from stats.canary import canary_power, canary_threshold
from stats.planning import weekly_human_cost, weekly_inference_cost
from stats.retries import and_gate, break_even_from_costs, leak, leak_union_bound, marginal_step
from stats.tuning import Rule, Setting, tune_band
from stats.unavailable import Unavailable, jsonable
from workers.cli.answers import at_most, plain_errors, sentence, share, shown, tell
from workers.cli.output import notes

Json = Annotated[bool, typer.Option("--json", help="One JSON document instead of text.")]


def add_commands(app: typer.Typer) -> None:
    for command in (canary, band, step, retries, cost):
        app.command()(command)


def canary(
    items: Annotated[int, typer.Option(help="Items that the canary re-judges a day.")] = 150,
    baseline: Annotated[float, typer.Option(help="Share of verdicts that flip by themselves.")] = 0.02,
    rate: Annotated[float, typer.Option(help="The flip rate to catch.")] = 0.06,
    level: Annotated[float, typer.Option(help="Accepted chance of a false alarm a day.")] = 0.01,
    json: Json = False,
) -> None:
    """From how many flips on should the canary alarm, and what does it catch in a day?"""
    with plain_errors(n="items"):
        threshold = canary_threshold(items, baseline, level=level)
        caught = threshold if isinstance(threshold, Unavailable) else canary_power(items, threshold, rate)
    inputs = {"items": items, "baseline": baseline, "rate": rate, "level": level}
    text = f"Alarm from {{n}} flips on; a rise to {rate:.0%} is caught in {share(caught)} of days."
    answer = {"alarm_from_flips": threshold, "chance_to_catch_in_a_day": caught}
    tell(sentence(threshold, text), answer, inputs=inputs, as_json=json)


def band(
    raters: Annotated[int, typer.Option(help="Raters in the fixed panel.")] = 3,
    false_alarm: Annotated[float, typer.Option(help="Accepted false alarms per check.")] = 0.05,
    checks: Annotated[int, typer.Option(help="Checks a week: judges x metrics x slices.")] = 18,
    consecutive: Annotated[int, typer.Option(help="Weeks in a row below the band before the alarm.")] = 2,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="Simulate weeks: what do widths and resampling shares catch?")
    ] = False,
    items: Annotated[int, typer.Option(help="Items a week (simulation).")] = 300,
    fails: Annotated[float, typer.Option(help="Share of human fails (simulation).")] = 0.4,
    accuracy: Annotated[float, typer.Option(help="Accuracy of raters and judge (simulation).")] = 0.87,
    worse: Annotated[float, typer.Option(help="Accuracy of the judge to catch (simulation).")] = 0.75,
    seed: Annotated[int, typer.Option(help="Seed of the simulation.")] = 0,
    json: Json = False,
) -> None:
    """How wide must the raters' band be, and how often will it cry wolf?"""
    at_most(100_000, items=items, checks=checks)
    at_most(52, consecutive=consecutive)
    at_most(8 if simulate else 1000, raters=raters)
    with plain_errors(alpha="false_alarm", p="false_alarm", k="checks", prevalence="fails", worse_acc="worse"):
        width = band_width(false_alarm, raters)
        literal = band_false_alarm(2.0, raters)
        answer: dict[str, object] = {
            "width_in_rater_sds": width,
            "false_alarms_at_width_2": literal,
            "weeks_with_a_false_alarm": multiplicity(false_alarm, checks),
            "the_same_with_persistence": multiplicity(prob_run(false_alarm, consecutive, consecutive), checks),
        }
        if simulate and not isinstance(width, Unavailable):
            notes.print("simulating weeks ...", style="dim")
            setting = Setting(items, fails, (accuracy,) * raters)
            answer |= _simulated(width, setting, worse, seed)
    inputs = {"raters": raters, "false_alarm": false_alarm, "checks": checks, "consecutive": consecutive}
    if simulate:
        inputs |= {"items": items, "fails": fails, "accuracy": accuracy, "worse": worse, "seed": seed}
    text = f"A band of {{n}} rater standard deviations keeps false alarms at {false_alarm:.1%} per check."
    tell(sentence(width, text), answer, inputs=inputs, as_json=json)


def _simulated(width: float, setting: Setting, worse: float, seed: int) -> dict[str, object]:
    rules = {
        "width_2": Rule(2.0),
        f"width_{width:.2f}": Rule(width),
        "width_2_and_half_the_resamples_outside": Rule(2.0, 0.5),
        f"width_{width:.2f}_and_half_the_resamples_outside": Rule(width, 0.5),
    }
    odds = tune_band(
        list(rules.values()), rng=np.random.default_rng(seed), setting=setting, worse_acc=worse, weeks=1000
    )
    if isinstance(odds, Unavailable):
        return {"simulation": odds}
    out: dict[str, object] = {}
    for name, row in zip(rules, odds, strict=True):
        out[f"{name}: false_alarm"], out[f"{name}: caught"] = row.false_alarm, row.power
    return out


def step(
    bad: Annotated[int, typer.Option(help="Defects among the labels of items first served at the last attempt.")],
    labels: Annotated[int, typer.Option(help="Those labels.")],
    drop_good: Annotated[float, typer.Option(help="Charter: loss when a good item is not served.")] = 1.0,
    serve_defect: Annotated[float, typer.Option(help="Charter: loss when a defect is served.")] = 50.0,
    weekly: Annotated[
        bool, typer.Option("--weekly", help="You look every week: use a bound that allows for it.")
    ] = False,
    json: Json = False,
) -> None:
    """May the last retry stay, or should the budget be lowered?

    Look every four weeks at the pooled labels, or say --weekly: a bound for one look is wrong in one run of ten after
    four looks.
    """
    with plain_errors(x="bad", m="labels", n="labels"):
        rate = break_even_from_costs(drop_good=drop_good, serve_defect=serve_defect)
        if isinstance(rate, Unavailable):
            tell(sentence(rate, ""), {"break_even": rate}, inputs={"bad": bad, "labels": labels}, as_json=json)
            return
        found = marginal_step(bad, labels, rate, bound="sequence" if weekly else "wilson")
    advice = {
        "lower": "Lower the retry budget: this step's defect share is above break-even ({n}) for sure.",
        "keep": "Keep the retry: this step's defect share is below break-even ({n}) for sure.",
        "pool": "Keep collecting labels: this step could lie on either side of break-even ({n}).",
    }
    answer = {"decision": found.decision, "break_even": rate, "lower_bound": found.lo, "upper_bound": found.hi}
    inputs = {"bad": bad, "labels": labels, "drop_good": drop_good, "serve_defect": serve_defect, "weekly": weekly}
    tell(sentence(rate, advice[found.decision]), answer, inputs=inputs, as_json=json)


def retries(
    spec: Annotated[float, typer.Option(help="Specificity per judgment.")] = 0.95,
    rec: Annotated[float, typer.Option(help="Recall per judgment.")] = 0.8,
    budget: Annotated[int, typer.Option("--retries", help="Retry budget K.")] = 3,
    json: Json = False,
) -> None:
    """How often does a defect that nobody can fix get through within the retry budget?"""
    at_most(200, retries=budget)
    with plain_errors(spec1="spec", rec1="rec"):
        through, bound = leak(spec, budget), leak_union_bound(spec, budget)
        pair = and_gate(spec, spec, rec, rec)
        leaks = {f"leak_with_{k}_retries": leak(spec, k) for k in range(budget + 1)}
    answer = leaks | {
        "never_more_than": bound,
        "leak_per_attempt_with_two_independent_judges": pair.leak,
        "good_drafts_passed_by_both": pair.rec,
    }
    text = f"{share(through)} of such defects get through with {budget} retries if misses are independent."
    tell(text, answer, inputs={"spec": spec, "rec": rec, "retries": budget}, as_json=json)


def cost(
    items: Annotated[int, typer.Option(help="Items a week.")] = 300_000,
    drafts_per_item: Annotated[float, typer.Option(help="Expected drafts an item: `assay simulate` says.")] = 2.58,
    criteria: Annotated[int, typer.Option(help="Criteria judged each time.")] = 3,
    judge_cost: Annotated[float, typer.Option(help="Price of one judgment.")] = 0.001,
    generation_cost: Annotated[float, typer.Option(help="Price of one draft.")] = 0.0,
    served: Annotated[int, typer.Option(help="Items served a week, if an audit judge sees them.")] = 0,
    audit_cost: Annotated[float, typer.Option(help="Price of one audit judgment.")] = 0.0,
    canary_items: Annotated[int, typer.Option(help="Items of the daily canary.")] = 150,
    labelled: Annotated[int, typer.Option(help="Items that people label a week.")] = 300,
    raters: Annotated[int, typer.Option(help="Raters an item.")] = 3,
    minutes: Annotated[float, typer.Option(help="Minutes a rating.")] = 1.0,
    hourly_rate: Annotated[float, typer.Option(help="Price of an hour of rating.")] = 0.0,
    json: Json = False,
) -> None:
    """What does a week cost, in models and in people?"""
    with plain_errors():
        machine = weekly_inference_cost(
            items,
            drafts_per_item,
            criteria,
            judge_cost,
            generation_cost=generation_cost,
            served=served,
            audit_cost=audit_cost,
            canary_items=canary_items,
        )
        people = weekly_human_cost(labelled, raters, minutes=minutes, hourly_rate=hourly_rate)
    answer = {f"models_{key}": value for key, value in jsonable(machine).items()}
    answer |= {f"people_{key}": value for key, value in jsonable(people).items()}
    text = (
        f"{machine.total:,.2f} for models and {people.cost:,.2f} for people "
        f"({shown(people.ratings)} ratings, {people.hours:,.1f} hours) a week."
    )
    inputs = {"items": items, "drafts_per_item": drafts_per_item, "criteria": criteria, "judge_cost": judge_cost}
    inputs |= {"generation_cost": generation_cost, "served": served, "audit_cost": audit_cost}
    inputs |= {"canary_items": canary_items, "labelled": labelled, "raters": raters}
    tell(text, answer, inputs=inputs | {"minutes": minutes, "hourly_rate": hourly_rate}, as_json=json)
