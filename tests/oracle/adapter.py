"""Maps the vectors' names to ours: ``bottom`` is abstain, ``rho`` persistence or advantage, ``K`` the retry budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stats.agreement import fleiss_kappa, independence_agreement, independence_gap, retest_agreement
from stats.alignment import alignment
from stats.alpha import AlphaState, krippendorff_alpha
from stats.alt_test import RaterMoments, alt_test, alt_test_from_moments
from stats.band import band_from_scores, band_margin
from stats.band_bootstrap import band_bootstrap
from stats.band_theory import band_false_alarm, band_width, majority_bias, multiplicity, prob_run, sd_interval_factor
from stats.biases import OrderPairs, position_flip
from stats.calibration import ece
from stats.canary import canary_power, canary_threshold
from stats.certification import certify_exact, n_certify_observed, n_certify_power
from stats.chain import ChainSettings, chain_grid, no_judge, retry_chain
from stats.distributions import normal_quantile
from stats.kappa import cohen_kappa, cohen_kappa_labels, kappa_bootstrap, specific_agreement
from stats.length_bias import LengthMoments, length_bias_slope
from stats.panel import majority
from stats.panes import Event, Mark, PaneFold
from stats.persistence import cusum_arl, cusum_lower, persistence_alerts
from stats.planning import ab_sample_size, halfwidth, n_for_halfwidth, weekly_human_cost, weekly_inference_cost
from stats.ppi import PpiStratum, PpiSums, ppi_from_sums, ppi_mean, strat_ppi
from stats.prevalence import posterior_defect_share, rogan_gladen
from stats.proportions import clopper_pearson, interval_coverage, wilson
from stats.retries import (
    and_gate,
    break_even_from_costs,
    break_even_rate,
    expected_drafts,
    leak,
    leak_union_bound,
    lift_fraction,
    marginal_step,
    net_value,
    persistence_from_catch_then_miss,
    persistence_from_double_miss,
)
from stats.sequences import bernoulli_confidence_sequence
from stats.significance import fdr_reject, sign_test
from stats.stratified import (
    DecisionStratum,
    Stratum,
    horvitz_thompson,
    kish,
    stratified_estimate,
    stratum_spec,
    weighted_rate,
)
from stats.synthetic import false_alarm_rate
from stats.unavailable import Unavailable
from stats.verdicts import accuracy, coverage, run_rates

ADAPTERS: dict[str, Callable[..., Any]] = {
    "wilson": wilson,
    "zq": normal_quantile,
    "clopper_pearson": clopper_pearson,
    "interval_coverage": interval_coverage,
    "independence_agreement": independence_agreement,
    "cohen_kappa": cohen_kappa,
    "cohen_kappa_labels": cohen_kappa_labels,
    "specific_agreement": specific_agreement,
    "fleiss_kappa": fleiss_kappa,
    "krippendorff_alpha": krippendorff_alpha,
    "test_retest": retest_agreement,
    "posterior_defect_share": posterior_defect_share,
    "sign_test": sign_test,
    "fdr_reject": fdr_reject,
    "expected_drafts": expected_drafts,
    "lift_fraction": lift_fraction,
    "multiplicity": multiplicity,
    "break_even": break_even_rate,
    "break_even_costs": break_even_from_costs,
    "net_value": net_value,
    "marginal_step": marginal_step,
    "and_gate": and_gate,
    "majority_bias": majority_bias,
    "sd_interval_factor": sd_interval_factor,
    "band_width": band_width,
    "band_false_alarm": band_false_alarm,
    "prob_run": prob_run,
    "false_alarm_rate": false_alarm_rate,
    "n_for_halfwidth": n_for_halfwidth,
    "halfwidth": halfwidth,
    "n_certify_observed": n_certify_observed,
    "n_certify_power": n_certify_power,
    "certify_exact": certify_exact,
    "canary_threshold": canary_threshold,
    "canary_power": canary_power,
    "ab_sample_size": ab_sample_size,
    "weekly_human_cost": weekly_human_cost,
    "kish": kish,
    "horvitz_thompson": horvitz_thompson,
    "rogan_gladen": rogan_gladen,
    "ece": ece,
    "cusum_arl": cusum_arl,
    "cusum_lower": cusum_lower,
    "length_bias_slope": length_bias_slope,
    "majority": majority,
    "persistence_alerts": persistence_alerts,
    "bernoulli_confidence_sequence": bernoulli_confidence_sequence,
}


def adapter(function: Callable[..., Any]) -> Callable[..., Any]:
    ADAPTERS[function.__name__.strip("_")] = function
    return function


def answer(fn: str, inputs: dict[str, Any]) -> Any:
    """Our result for a vector, in the vectors' words. An unknown function is an error, never a skip."""
    if fn not in ADAPTERS:
        raise LookupError(f"the adapter does not know {fn!r}")
    return plain(ADAPTERS[fn](**inputs))


def plain(result: Any) -> Any:
    """Results as dicts, lists and numbers; unavailable as the vectors write it."""
    if isinstance(result, Unavailable):
        return {"status": "unavailable", "reason": result.reason}
    if isinstance(result, dict):
        return {key: plain(value) for key, value in result.items()}
    if isinstance(result, (list, tuple)) and not hasattr(result, "_asdict"):
        return [plain(value) for value in result]
    if hasattr(result, "__dataclass_fields__"):
        return {key: plain(getattr(result, key)) for key in result.__dataclass_fields__}
    return result


def labels(values: list[Any]) -> list[Any]:
    return ["abstain" if value == "bottom" else value for value in values]


def words(result: Any, **renamed: str) -> Any:
    """The result with the vectors' key names beside ours."""
    if isinstance(result, Unavailable):
        return result
    document = plain(result)
    return document | {theirs: document[ours] for theirs, ours in renamed.items()}


@adapter
def _coverage(verdicts):
    return coverage(labels(verdicts))


@adapter
def _run_rates(judge, gold):
    return run_rates(labels(judge), labels(gold))


@adapter
def _accuracy(judge, gold, **options):
    return accuracy(labels(judge), labels(gold), **options)


@adapter
def _position_flip(pairs):
    return position_flip(OrderPairs.from_slots([tuple(labels(pair)) for pair in pairs]))


@adapter
def _alignment(judge, human, reason_agrees=None, weights=None, score_weights=(3.0, 1.0, 1.0)):
    result = alignment(
        labels(judge), labels(human), reason_agrees=reason_agrees, weights=weights, score_weights=tuple(score_weights)
    )
    c = result.confusion
    confusion = {"ff": c.fail_caught, "fp": c.fail_missed, "pf": c.pass_refused, "pp": c.pass_kept}
    return plain(result) | {"confusion": confusion}


@adapter
def _independence_gap(**inputs):
    return words(independence_gap(**inputs), p="p_value")


@adapter
def _kappa_bootstrap(table, n_boot=2000, conf=0.95, seed=0):
    return kappa_bootstrap(table, n_boot=n_boot, conf=conf, rng=np.random.default_rng(seed))


@adapter
def _leak(**inputs):
    return leak(inputs["spec"], inputs["K"])


@adapter
def _leak_union_bound(**inputs):
    return leak_union_bound(inputs["spec"], inputs["K"])


@adapter
def _band_from_scores(judge_score, rater_scores, **options):
    return words(band_from_scores(judge_score, rater_scores, **options), sd="rater_sd")


@adapter
def _weekly_inference_cost(**inputs):
    return weekly_inference_cost(**inputs).total


def settings(rho=0.5, **values):
    return ChainSettings(persistence=rho, **values)


@adapter
def _no_judge(**values):
    return no_judge(settings(**values))


@adapter
def _retry_chain(**values):
    budget = values.pop("K", 3)
    result = retry_chain(settings(**values), retry_budget=budget)
    return plain(result) | {"served_by_attempt": list(result.served_by_attempt)}


@adapter
def _chain_grid(**axes):
    names = {"D": "first_defect", "U": "unfixable", "F": "fix", "G": "regress", "S": "spec", "R": "rec"}
    return chain_grid(**{names.get(axis, "retry_budget"): values for axis, values in axes.items()})


@adapter
def _rho_from_double_miss(p_both, miss):
    return persistence_from_double_miss(p_both, miss)


@adapter
def _rho_from_catch_then_miss(p_cm, miss):
    return persistence_from_catch_then_miss(p_cm, miss)


@adapter
def _stratum_spec(strata):
    return stratum_spec(
        [DecisionStratum(s.get("share", s.get("share_or_n")), s["fail_rate"], s["judge"]) for s in strata]
    )


@adapter
def _stratified_estimate(strata, **options):
    return stratified_estimate([Stratum(s["size"], s["n"], s["x"]) for s in strata], **options)


@adapter
def _weighted_rate(flags, weights):
    return weighted_rate(flags, weights)


@adapter
def _ppi_mean(y, f, f_unlabeled, **options):
    return words(ppi_mean(y, f, f_unlabeled, **options), **{"lambda": "lam"})


@adapter
def _ppi_from_moments(m, **options):
    moments = dict(m)
    return words(ppi_from_sums(PpiSums(n_unlabeled=moments.pop("N"), **moments), **options), **{"lambda": "lam"})


@adapter
def _strat_ppi(strata, **options):
    parts = [PpiStratum(s["size"], s["y"], s["f"], s.get("fu", s.get("f_unlabeled"))) for s in strata]
    return words(strat_ppi(parts, **options), lambdas="lams")


@adapter
def _alt_test(llm, humans, **options):
    return words(alt_test(llm, humans, **options), rho="advantage")


@adapter
def _alt_test_from_moments(raters, **options):
    moments = [RaterMoments(str(i), r["n"], r["mean_d"], r["sd_d"], r["adv"]) for i, r in enumerate(raters)]
    return words(alt_test_from_moments(moments, **options), rho="advantage")


@adapter
def _band_margin(judge, panel, **options):
    return words(band_margin(labels(judge), panel, **options))


@adapter
def _band_bootstrap(judge, panel, seed=0, **options):
    return band_bootstrap(labels(judge), panel, rng=np.random.default_rng(seed), **options)


@adapter
def _stream_windows(events, width, lateness=0):
    fold = PaneFold(width, lateness=lateness, keep_closed=None)
    for e in events:
        mark = Mark("", "", "", "", f"{e['judge']}|{e['gold']}")
        fold.apply(Event(e["id"], e["ts"], e["item"], e["version"], (mark,)))
    windows = {str(key.pane): dict(cells) for key, cells in fold.cells.counts.items()}
    tally = fold.tally
    return {
        "windows": windows,
        "duplicates": tally.duplicates,
        "late": tally.late,
        "superseded": tally.superseded,
    }


@adapter
def _stream_slope(scores, lengths, scale=1_000_000_000, split=0, retract=()):
    parts = (slice(None, split), slice(split, None))
    left, right = (LengthMoments(scale), LengthMoments(scale))
    for score, length in [*zip(scores[parts[0]], lengths[parts[0]], strict=True), *retract]:
        left = left.add(score, length)
    for score, length in zip(scores[parts[1]], lengths[parts[1]], strict=True):
        right = right.add(score, length)
    for score, length in retract:
        right = right.retract(score, length)
    return left.merge(right).slope()


@adapter
def _stream_alpha(units, retract=(), domain=2):
    state = AlphaState(tuple(range(domain)))
    for unit in [*units, *retract]:
        state.add(unit)
    for unit in retract:
        state.retract(unit)
    return state.alpha()
