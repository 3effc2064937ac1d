"""Wrong input is one error that names the argument, the value and the rule; it never becomes a number."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stats import StatsInputError
from stats.agreement import fleiss_kappa, independence_gap, retest_agreement
from stats.alignment import alignment
from stats.alpha import AlphaState, krippendorff_alpha
from stats.alt_test import alt_test
from stats.band import band_from_scores, band_margin
from stats.band_theory import band_width, majority_bias
from stats.biases import OrderPairs, self_preference_gap
from stats.calibration import ece
from stats.canary import canary_over_days, canary_threshold
from stats.certification import n_certify_power
from stats.chain import ChainSettings, retry_chain
from stats.curves import fit_pass_curve
from stats.kappa import cohen_kappa, cohen_kappa_labels
from stats.length_bias import LengthMoments, length_bias_slope
from stats.persistence import persistence_alerts
from stats.planning import ab_sample_size, n_for_kappa
from stats.ppi import PpiSums, ppi_mean
from stats.prevalence import rogan_gladen, rogan_gladen_interval
from stats.proportions import clopper_pearson, wilson
from stats.retries import lift_fraction, net_value
from stats.sampling import BottomK, sampled
from stats.served import served_defect_rate
from stats.significance import fdr_reject, sign_test
from stats.stratified import Stratum, horvitz_thompson, kish, stratified_estimate, weighted_rate
from stats.synthetic import false_alarm_rate
from stats.tuning import Setting
from stats.verdicts import accuracy, coverage, run_rates

RNG = np.random.default_rng(0)
PANEL = [["fail", "pass"], ["fail", "pass"], ["fail", "pass"]]

BAD = {
    "a boolean as a count": (lambda: wilson(True, 10), "x", "whole number", "True"),
    "a float as a count": (lambda: wilson(3, 10.0), "m", "whole number", "10.0"),
    "text as a count": (lambda: clopper_pearson("3", 10), "x", "whole number", "'3'"),
    "more successes than trials": (lambda: wilson(11, 10), "x", "exceed its total 10", "11"),
    "a negative count": (lambda: sign_test(-1, 3), "wins", "at least 0", "-1"),
    "a confidence of 1": (lambda: wilson(1, 2, conf=1.0), "conf", "strictly between", "1.0"),
    "an unknown side": (lambda: wilson(1, 2, side="left"), "side", "two-sided, lower, upper", "'left'"),
    "a nan z": (lambda: wilson(1, 2, z=math.nan), "z", "finite", "nan"),
    "an unknown label": (lambda: coverage(["pass", "PASS"]), "verdicts", "only pass, fail, abstain", "'PASS'"),
    "a nan label": (lambda: run_rates(["nan"], ["pass"]), "judge", "only pass", "'nan'"),
    "wrong lengths": (lambda: accuracy(["pass"], ["pass", "fail"]), "gold", "length of judge, 1", "2"),
    "wrong lengths of reasons": (
        lambda: alignment(["fail"], ["fail"], reason_agrees=[True, False]), "reason_agrees", "length", "2",
    ),
    "a negative weight": (lambda: alignment(["fail"], ["fail"], weights=[-1]), "weights", "at least 0", "[-1]"),
    "too few weights": (lambda: alignment(["fail"], ["fail"], weights=[]), "weights", "one entry an item", "0"),
    "a nan weight": (lambda: kish([1.0, math.nan]), "weights", "finite", "nan"),
    "text as weights": (lambda: kish(["1", "2"]), "weights", "numbers", "'1'"),
    "a score weight below 0": (
        lambda: alignment([], [], score_weights=(-3, 1, 1)), "score_weights[0]", "at least 0", "-3",
    ),
    "a flag of 2": (lambda: weighted_rate([2], [1]), "flags", "only 0 and 1", "[2]"),
    "a ragged table": (lambda: cohen_kappa([[1, 2], [3]]), "table", "one length", "[3]"),
    "a table that is not square": (lambda: cohen_kappa([[1, 2]]), "table", "square", "[[1, 2]]"),
    "a boolean in a table": (lambda: cohen_kappa([[True, 0], [0, 1]]), "table", "whole number", "True"),
    "a nan rating": (lambda: cohen_kappa_labels(["pass", "nan"], ["pass", "fail"]), "a", "by None", "'nan'"),
    "a label outside the classes": (
        lambda: cohen_kappa_labels(["x"], ["pass"], labels=["pass", "fail"]), "a", "only pass, fail", "'x'",
    ),
    "uneven ratings per unit": (lambda: fleiss_kappa([[2, 0], [1, 0]]), "counts", "same number of ratings", "[2, 1]"),
    "a ragged reliability matrix": (lambda: krippendorff_alpha([[1, 2], [1]]), "data", "one entry a unit", "[1, 2]"),
    "a float nan rating": (lambda: krippendorff_alpha([[1.0, math.nan], [1.0, 2.0]]), "data", "by None", "nan"),
    "a value outside the domain": (lambda: krippendorff_alpha([["x"]], domain=["y"]), "data", "only y", "'x'"),
    "words on an interval scale": (
        lambda: krippendorff_alpha([["a", "b"], ["a", "a"]], level="interval"), "data", "finite number", "'a'",
    ),
    "an unknown level": (lambda: krippendorff_alpha([[1]], level="metric"), "level", "one of nominal", "'metric'"),
    "a unit of another domain": (lambda: AlphaState((0, 1)).add([1]), "counts", "one entry a value", "1"),
    "more agreements than items": (lambda: independence_gap(3, 2, 0.5), "agreements", "exceed n, 2", "3"),
    "a nan verdict in a repeat": (lambda: retest_agreement([["pass", "NaN"]]), "runs", "by None", "'NaN'"),
    "a p-value above 1": (lambda: fdr_reject([1.5]), "p_values", "between 0 and 1", "1.5"),
    "words under a numeric scoring": (
        lambda: alt_test({"i": "x"}, {"a": {"i": "y"}}, scoring="neg_rmse"), "judge", "finite number", "'x'",
    ),
    "a rater who abstains": (
        lambda: band_margin(["fail", "pass"], [["fail", "abstain"], *PANEL[1:]]), "panel[0]", "only pass, fail or None",
        "'abstain'",
    ),
    "a short rater": (
        lambda: band_margin(["fail", "pass"], [["fail"], *PANEL[1:]]), "panel[0]", "length of judge", "1",
    ),
    "negative band weights": (
        lambda: band_margin(["fail", "pass"], PANEL, weights=[1, -1]), "weights", "at least 0", "-1",
    ),
    "an unknown metric": (lambda: band_margin(["fail", "pass"], PANEL, metric="f1"), "metric", "specificity", "'f1'"),
    "a negative width": (lambda: band_margin(["fail", "pass"], PANEL, width=-1.0), "width", "at least 0", "-1.0"),
    "a score above 1": (lambda: band_from_scores(1.2, [0.9, 0.8]), "judge_score", "between 0 and 1", "1.2"),
    "raters as a float": (lambda: band_width(0.05, 3.0), "raters", "whole number", "3.0"),
    "an even panel": (lambda: majority_bias(0.8, 4), "raters", "odd", "4"),
    "two raters to simulate": (lambda: false_alarm_rate(rater_acc=(0.8, 0.9)), "rater_acc", "at least 3 raters", "0.8"),
    "two raters to tune for": (lambda: Setting(rater_acc=(0.8, 0.9)), "rater_acc", "at least 3 raters", "0.8"),
    "a week that is neither below nor not": (lambda: persistence_alerts([2]), "below", "True, False or None", "2"),
    "an unknown pair verdict": (lambda: OrderPairs.from_slots([("A", "C")]), "pair", "only A, B, TIE", "'C'"),
    "a family that is not a yes or no": (
        lambda: self_preference_gap(["pass"], ["fail"], ["gpt"]), "own_family", "True and False", "'gpt'",
    ),
    "a confidence above 1": (lambda: ece([1.1], [True]), "confidence[0]", "between 0 and 1", "1.1"),
    "a length of 0": (lambda: length_bias_slope([1, 2, 3], [1, 0, 2]), "lengths[1]", "above 0", "0"),
    "moments of another scale": (
        lambda: LengthMoments(10).merge(LengthMoments(100)), "scale", "must be 10", "100",
    ),
    "a reject rate below 0": (lambda: rogan_gladen(-0.1, 0.9, 0.8), "reject_rate", "between 0 and 1", "-0.1"),
    "more caught than fails": (
        lambda: rogan_gladen_interval(rejected=1, n=2, caught=3, n_fail=2, kept=1, n_pass=2, rng=RNG),
        "caught", "exceed its total 2", "3",
    ),
    "PPI of uneven columns": (lambda: ppi_mean([1, 0], [1], [1, 0]), "f", "length of y, 2", "1"),
    "labels that are no 0 and 1": (
        lambda: served_defect_rate(PpiSums(3, 2, 4, 1, 1, 1, 9, 3, 3)), "sy", "labels 0 and 1", "2",
    ),
    "an inclusion of 0": (lambda: horvitz_thompson([1], [0.0]), "inclusion[0]", "above 0", "0.0"),
    "more defects than labels": (lambda: stratified_estimate([Stratum(9, 2, 3)]), "strata[0].x", "exceed", "3"),
    "a floor above 1": (lambda: n_certify_power(0.9, 1.5), "floor", "between 0 and 1", "1.5"),
    "a chain setting above 1": (lambda: ChainSettings(spec=1.5), "spec", "between 0 and 1", "1.5"),
    "a negative budget": (lambda: retry_chain(retry_budget=-1), "retry_budget", "at least 0", "-1"),
    "a negative volume": (lambda: net_value(-1, 0), "good", "at least 0", "-1"),
    "a position outside the curve": (lambda: lift_fraction([0.1, 0.2], 5), "k_index", "curve of 2", "5"),
    "retries that do not rise": (lambda: fit_pass_curve([0, 0, 1], [0.1, 0.2, 0.3]), "retries", "rise", "[0, 0, 1]"),
    "a flip of an item nobody judged": (
        lambda: canary_over_days([({"a"}, ["b"])], baseline=0.1), "days[0]", "re-judged", "'b'",
    ),
    "a level of 0": (lambda: canary_threshold(10, 0.1, level=0.0), "level", "strictly", "0.0"),
    "a lift beyond 1": (lambda: ab_sample_size(0.9, 0.5), "relative_lift", "between 0 and 1", "0.5"),
    "a kappa above 1": (lambda: n_for_kappa(1.2, 0.5, 0.1), "kappa", "between 0 and 1", "1.2"),
    "a rate above 1": (lambda: sampled("s", "i", 2.0), "rate", "between 0 and 1", "2.0"),
    "a sample of nothing": (lambda: BottomK(0, salt="s"), "k", "at least 1", "0"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_error_with_argument_rule_and_value(name):
    call, argument, rule, value = BAD[name]
    with pytest.raises(StatsInputError) as caught:
        call()
    assert caught.value.argument == argument
    assert rule in str(caught.value)
    assert value in str(caught.value)


def test_a_long_value_is_cut_in_the_message():
    with pytest.raises(StatsInputError) as caught:
        coverage(["x" * 10_000])
    assert len(str(caught.value)) < 250
