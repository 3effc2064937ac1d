"""``assay plan``: how many labels does a promise need? Questions in words, answers with reasons."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from stats.certification import certify_exact, n_below_cap, n_certify_observed, n_certify_power
from stats.planning import ab_sample_size, halfwidth, n_for_halfwidth, n_for_kappa, weekly_human_cost
from stats.proportions import clopper_pearson, wilson
from stats.unavailable import Unavailable
from workers.cli import plan_weekly, what_if
from workers.cli.answers import at_most, plain_errors, sentence, tell

app = typer.Typer(name="plan", no_args_is_help=True, help="How many labels, days, raters and dollars do I need?")

Json = Annotated[bool, typer.Option("--json", help="One JSON document instead of text.")]
Confidence = Annotated[float, typer.Option(help="How sure the bound must be, one-sided.")]
Power = Annotated[float, typer.Option(help="Chance to succeed when the true value is what you say.")]


def register(parent: typer.Typer) -> None:
    """Add ``plan`` to the command line."""
    plan_weekly.add_commands(app)
    what_if.register(app)
    parent.add_typer(app)


@app.command()
def certify(
    floor: Annotated[float, typer.Option(help="The Specificity (or Recall) to certify.")] = 0.95,
    true: Annotated[float, typer.Option("--true", help="What the judge is really like.")] = 0.97,
    have: Annotated[int | None, typer.Option(help="The human fails that you have: what are the odds?")] = None,
    confidence: Confidence = 0.95,
    power: Power = 0.8,
    json: Json = False,
) -> None:
    """How many human fails do I need to certify a floor?

    By the score test. The normal approximation (Wald) asks for fewer, and certifies judges that are not good enough.
    """
    at_most(1_000_000, have=have)
    with plain_errors(n="have"):
        n = n_certify_power(true, floor, conf=confidence, power=power)
        wald = n_certify_power(true, floor, conf=confidence, power=power, method="wald")
        at = n if have is None else have
        odds = at if isinstance(at, Unavailable) else certify_exact(at, true, floor, conf=confidence)
        naive = wald if isinstance(wald, Unavailable) else certify_exact(wald, true, floor, method="wald")
        half = n_certify_observed(true, floor, conf=confidence)
    answer = {
        "fails_needed": n,
        "fails_for_a_coin_toss": half,
        "fails_needed" if have is None else "fails_you_have": at,
        "chance_to_certify": getattr(odds, "power", odds),
        "chance_if_exactly_at_the_floor": getattr(odds, "size", odds),
        "must_catch_at_least": getattr(odds, "smallest_pass", odds),
        "wald_would_ask_for": wald,
        "wald_certifies_at_the_floor": getattr(naive, "size", naive),
    }
    text = f"{{n}} human fails certify {floor:g} with {power:.0%} chance if the judge is really at {true:g}."
    inputs = {"floor": floor, "true": true, "have": have, "confidence": confidence, "power": power}
    tell(sentence(n, text), answer, inputs=inputs, as_json=json)


@app.command()
def precision(
    rate: Annotated[float, typer.Option(help="The rate that you expect, Specificity for example.")] = 0.9,
    within: Annotated[float, typer.Option(help="Plus or minus this much.")] = 0.05,
    have: Annotated[int | None, typer.Option(help="The items that you have: how precise are they?")] = None,
    confidence: Annotated[float, typer.Option(help="Confidence of the interval, two-sided.")] = 0.95,
    json: Json = False,
) -> None:
    """How many items do I need to know a rate to plus or minus so much?

    Count items of the class: human fails for Specificity, human passes for Recall, per criterion, in the test split.
    """
    with plain_errors(p="rate", halfwidth="within", n="have"):
        n = n_for_halfwidth(rate, within, conf=confidence)
        at = n if have is None else have
        reach = halfwidth(rate, at, conf=confidence)
    inputs = {"rate": rate, "within": within, "have": have, "confidence": confidence}
    answer = {"items_needed": n, "items_you_have": at, "known_within": reach}
    tell(sentence(n, f"{{n}} items of the class give {rate:g} ± {within:g}."), answer, inputs=inputs, as_json=json)


@app.command()
def cap(
    cap: Annotated[float, typer.Option(help="The charter's cap on served defects.")] = 0.02,
    true: Annotated[float, typer.Option("--true", help="The defect share that you believe in.")] = 0.01,
    labels: Annotated[int | None, typer.Option(help="Labels that you have from the served strata.")] = None,
    defects: Annotated[int, typer.Option(help="Defects among them.")] = 0,
    confidence: Confidence = 0.95,
    power: Power = 0.8,
    json: Json = False,
) -> None:
    """How many labels do I need to show that served defects stay below a cap?

    Uniform labels from what is served; with stratum or new-item weights, count the effective sample size.
    """
    answer: dict[str, Any] = {}
    with plain_errors(x="defects", m="labels"):
        n = answer["labels_needed"] = n_below_cap(true, cap, conf=confidence, power=power)
        if labels is not None:
            score = wilson(defects, labels, conf=confidence, side="upper")
            exact = clopper_pearson(defects, labels, conf=confidence, side="upper")
            answer["upper_bound"] = getattr(score, "hi", score)
            answer["upper_bound_clopper_pearson"] = getattr(exact, "hi", exact)
            answer["below_cap"] = None if isinstance(score, Unavailable) else score.hi <= cap
    inputs = {"cap": cap, "true": true, "labels": labels, "defects": defects, "confidence": confidence, "power": power}
    text = f"{{n}} labels show that served defects are below {cap:g} with {power:.0%} chance if {true:g} is true."
    tell(sentence(n, text), answer, inputs=inputs, as_json=json)


@app.command()
def agreement(
    kappa: Annotated[float, typer.Option(help="The agreement beyond chance that you hope for.")] = 0.8,
    fails: Annotated[float, typer.Option(help="Share of fails in the set.")] = 0.5,
    within: Annotated[float, typer.Option(help="Plus or minus this much.")] = 0.133,
    raters: Annotated[int, typer.Option(help="Raters an item.")] = 3,
    confidence: Annotated[float, typer.Option(help="Confidence of the interval, two-sided.")] = 0.95,
    json: Json = False,
) -> None:
    """How many items must people label to measure how well they agree?

    The defaults ask for 0.80 with a lower bound of 0.667, the usual bar. Rare fails need far more items. Sized for two
    raters; more raters narrow the interval.
    """
    with plain_errors(prevalence="fails", halfwidth="within"):
        n = n_for_kappa(kappa, fails, within, conf=confidence)
        ratings = n if isinstance(n, Unavailable) else weekly_human_cost(n, raters).ratings
    inputs = {"kappa": kappa, "fails": fails, "within": within, "raters": raters, "confidence": confidence}
    text = f"{{n}} items with {fails:.0%} fails pin kappa {kappa:g} down to ± {within:g}."
    tell(sentence(n, text), {"items_needed": n, "ratings": ratings}, inputs=inputs, as_json=json)


@app.command()
def ab(
    baseline: Annotated[float, typer.Option(help="The rate without the change.")] = 0.5,
    lift: Annotated[float, typer.Option(help="The relative lift to detect: 0.003 is 0.3 %.")] = 0.003,
    level: Annotated[float, typer.Option(help="Two-sided false-positive level.")] = 0.05,
    power: Power = 0.8,
    json: Json = False,
) -> None:
    """How many users does an A/B test need to see a lift?

    Below that, rely on human quality labels and surfaces with larger effects.
    """
    with plain_errors(alpha="level", relative_lift="lift"):
        n = ab_sample_size(baseline, lift, alpha=level, power=power)
        users = n if isinstance(n, Unavailable) else -int(-n // 1)
    inputs = {"baseline": baseline, "lift": lift, "level": level, "power": power}
    text = f"{{n}} users per arm see a relative lift of {lift:.2%} on a rate of {baseline:g}."
    tell(sentence(users, text), {"users_per_arm": users}, inputs=inputs, as_json=json)
