"""Canary, biases, calibration, sampling, planning: what the vectors do not say."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from stats.agreement import IndependenceGap, independence_agreement, independence_gap
from stats.alignment import alignment, score
from stats.biases import FamilyGap, OrderPairs, position_flip, self_preference_gap
from stats.calibration import CalibrationError, ece, ece_null
from stats.canary import CanaryVerdict, canary_over_days, canary_power, canary_threshold
from stats.certification import CertificationOdds, certify_exact, n_below_cap, n_certify_power
from stats.persistence import Run, cusum_arl, cusum_lower, persistence_alerts
from stats.planning import n_for_kappa
from stats.sampling import BottomK, sampled
from stats.stratified import kish
from stats.unavailable import Unavailable
from stats.verdicts import run_rates


def test_importing_the_package_does_not_import_scipy():
    code = (
        "import sys, stats, stats.band, stats.band_bootstrap, stats.chain, stats.panes; print('scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_same_flips_every_day_are_no_new_evidence_and_new_ones_are():
    items = [f"i{k}" for k in range(150)]
    same = canary_over_days([(items, items[:8])] * 5, baseline=0.02)
    fresh = canary_over_days([(items, items[8 * d : 8 * d + 8]) for d in range(5)], baseline=0.02)
    assert isinstance(same, CanaryVerdict)
    assert isinstance(fresh, CanaryVerdict)
    assert (same.flipped, same.alarm) == (8, False)
    assert (fresh.flipped, fresh.alarm) == (40, True)


def test_rotating_items_catches_a_small_change_that_one_day_misses():
    # S2 7.6: a rise from 2 to 6 % is caught in a single day only about 55 % of the time
    week = canary_threshold(5 * 150, 0.02)
    assert not isinstance(week, Unavailable)
    assert canary_power(150, 9, 0.06) < 0.6
    assert canary_power(5 * 150, week, 0.06) > 0.99


@pytest.mark.parametrize(("n", "baseline"), [(150, 0.02), (40, 0.1), (200, 0.0)])
def test_the_threshold_is_the_smallest_that_keeps_the_level(n, baseline):
    t = canary_threshold(n, baseline)
    assert not isinstance(t, Unavailable)
    assert canary_power(n, t, baseline) <= 0.01 < canary_power(n, t - 1, baseline)


def test_a_canary_that_always_flips_cannot_alarm():
    assert isinstance(canary_threshold(10, 1.0), Unavailable)
    assert isinstance(canary_over_days([], baseline=0.02), Unavailable)


def test_slot_and_candidate_terms_are_told_apart():
    always_first = OrderPairs.from_slots([("A", "A")] * 10)
    steady_candidate = OrderPairs.from_candidates([("A", "A")] * 10)
    assert position_flip(always_first).reversal_rate == 1.0
    assert position_flip(steady_candidate).consistency == 1.0


def test_pairs_without_a_decision_leave_no_rate():
    found = position_flip(OrderPairs.from_slots([("abstain", "A")]))
    assert isinstance(found.flip_rate, Unavailable)
    assert found.n_undecided == 1


def test_a_judge_that_spares_its_own_family_is_seen_and_a_fair_one_is_not():
    human = ["fail"] * 200
    own = [True] * 100 + [False] * 100
    lenient = ["pass"] * 40 + ["fail"] * 60 + ["pass"] * 10 + ["fail"] * 90
    gap = self_preference_gap(lenient, human, own)
    assert isinstance(gap.false_pass, FamilyGap)
    assert gap.false_pass.gap == pytest.approx(0.30)
    assert gap.false_pass.lo > 0
    assert isinstance(gap.false_fail, Unavailable)
    fair = self_preference_gap((["pass"] * 10 + ["fail"] * 90) * 2, human, own)
    assert isinstance(fair.false_pass, FamilyGap)
    assert fair.false_pass.lo < 0 < fair.false_pass.hi


def test_a_perfectly_calibrated_judge_stays_under_the_null_point():
    # finding 6: mean ECE .052 at n = 300, 15 bins, null 95 % point .075
    rng = np.random.default_rng(1)
    said = rng.uniform(0.5, 1.0, 300)
    limit = ece_null(said.tolist(), rng=rng)
    assert not isinstance(limit, Unavailable)
    over = []
    for _ in range(200):
        found = ece(said.tolist(), (rng.random(300) < said).tolist())
        assert isinstance(found, CalibrationError)
        over.append(found.ece > limit)
    assert limit == pytest.approx(0.075, abs=0.015)
    assert np.mean(over) == pytest.approx(0.05, abs=0.04)


def test_a_confidence_on_an_edge_falls_into_the_bin_below():
    # 3 * 0.1 is 0.30000000000000004: multiplied edges would move 0.3
    found = ece([0.3, 0.25, None], [True, False, True], n_bins=10)
    assert isinstance(found, CalibrationError)
    assert (found.bins_used, found.n_dropped) == (1, 1)
    assert isinstance(ece([None], [True]), Unavailable)


def test_every_item_has_the_same_chance_to_be_drawn():
    drawn = np.zeros(50)
    for week in range(2000):
        sample = BottomK(5, salt=f"bom-1/week-{week}")
        for item in range(50):
            sample.add("s", f"item-{item}")
        for chosen in sample.sample("s"):
            drawn[int(chosen.split("-")[1])] += 1
    assert sample.inclusion("s") == 0.1
    assert drawn / 2000 == pytest.approx(np.full(50, 0.1), abs=0.03)
    assert np.mean([sampled("w", f"i{k}", 0.2) for k in range(20_000)]) == pytest.approx(0.2, abs=0.01)


def test_an_item_that_comes_again_is_not_drawn_twice():
    sample = BottomK(5, salt="s")
    assert sample.add("s", "a")
    assert sample.add("s", "a")
    assert sample.sample("s") == ["a"]
    assert isinstance(sample.inclusion("other"), Unavailable)


def test_effective_sample_size_is_scale_free():
    assert kish([1e200, 1e200, 4e200]) == pytest.approx(2.0)
    assert kish([1e-200, 1e-200, 4e-200]) == pytest.approx(2.0)


def test_a_non_decision_on_a_fail_is_neither_caught_nor_a_false_pass():
    rates = run_rates(["abstain", "fail"], ["fail", "fail"])
    assert (rates.labeled_spec, rates.labeled_false_pass_rate) == (0.5, 0.0)
    assert (rates.decided_spec, rates.n_decided_fail) == (1.0, 1)
    assert isinstance(rates.labeled_rec, Unavailable)


def test_an_agreed_fail_whose_reason_nobody_compared_leaves_no_agreement():
    found = alignment(["fail", "pass"], ["fail", "fail"], reason_agrees=[None, None])
    assert isinstance(found.ra_neg, Unavailable)
    assert isinstance(found.score, Unavailable)
    assert score(0.9, 0.8, Unavailable("not compared"), score_weights=(3, 1, 0)) == pytest.approx(3.5)


def test_weights_turn_a_sample_by_decision_into_production():
    # S2 6.4, quirk 5: 100 items a stratum show 0.875, production is about 0.82
    judge = ["pass"] * 200 + ["fail"] * 100
    human = (["fail"] * 5 + ["pass"] * 95) * 2 + ["fail"] * 70 + ["pass"] * 30
    weights = [0.375] * 200 + [0.25] * 100
    assert alignment(judge, human).spec == pytest.approx(0.875)
    assert alignment(judge, human, weights=weights).spec == pytest.approx(0.82, abs=0.005)
    assert isinstance(alignment(judge, human, weights=[0.0] * 300).spec, Unavailable)


def test_agreement_beyond_independence_is_a_gap_that_chance_does_not_explain():
    # S1 figure 4: predicted 0.715, observed 0.95
    gap = independence_gap(95, 100, independence_agreement(0.8, 0.9, 0.75))
    assert isinstance(gap, IndependenceGap)
    assert gap.p_value < 1e-6
    assert isinstance(independence_gap(0, 0, 0.5), Unavailable)


def test_wald_certifies_judges_on_the_floor_more_often_than_it_says():
    # statistics page, 2: exact size 9.3 % at 450 instead of 5 %
    wald, exact = certify_exact(450, 0.97, 0.95, method="wald"), certify_exact(631, 0.97, 0.95)
    assert isinstance(wald, CertificationOdds)
    assert isinstance(exact, CertificationOdds)
    assert wald.size == pytest.approx(0.093, abs=0.001)
    assert exact.size < 0.05
    assert isinstance(n_certify_power(0.95, 0.95), Unavailable)
    assert isinstance(n_below_cap(0.02, 0.02), Unavailable)


def test_too_few_items_cannot_certify_even_when_perfect():
    odds = certify_exact(20, 1.0, 0.95)
    assert isinstance(odds, CertificationOdds)
    assert odds.power == 0.0
    assert isinstance(odds.smallest_pass, Unavailable)


def test_rare_fails_need_many_more_items_for_kappa():
    balanced, skewed = n_for_kappa(0.8, 0.5, 0.1), n_for_kappa(0.8, 0.05, 0.1)
    # balanced: se = sqrt(1 - kappa^2) / sqrt(n), so n = (1.96 x 0.6 / 0.1)^2
    assert balanced == math.ceil((1.959964 * 0.6 / 0.1) ** 2)
    assert skewed > 3 * balanced
    assert isinstance(n_for_kappa(0.8, 0.0, 0.1), Unavailable)


def test_a_cusum_folded_week_by_week_is_the_whole_one():
    weeks = [0.1, -2.0, None, -1.5, 0.3, -2.2]
    whole, s = cusum_lower(weeks, h=2.0), 0.0
    for k in range(1, len(weeks) + 1):
        part = cusum_lower(weeks[k - 1 : k], h=2.0, s0=s)
        s = part.path[-1]
        assert s == whole.path[k - 1]


def test_simulated_cusum_runs_are_as_long_as_the_markov_chain_says():
    rng, lengths = np.random.default_rng(2), []
    for _ in range(800):
        s, t = 0.0, 0
        while s <= 4.0:
            s, t = max(0.0, s - rng.normal(-1.0) - 0.5), t + 1
        lengths.append(t)
    assert np.mean(lengths) == pytest.approx(cusum_arl(0.5, 4.0, shift=1.0), rel=0.05)
    assert isinstance(cusum_arl(3.0, 30.0), Unavailable)


def test_a_run_folds_over_closed_weeks():
    run, flags, alerts = Run(), [True, None, True, False, True], []
    for week in flags:
        run = run.after(week)
        alerts.append(bool(week) and run.length >= 2)
    assert alerts == persistence_alerts(flags)
