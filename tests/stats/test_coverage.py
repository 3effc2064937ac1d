"""Intervals are tested by how often they cover the truth in seeded simulations. Expected values: statistics page, 3."""

from __future__ import annotations

import numpy as np
import pytest

from stats.alpha import alpha_bootstrap
from stats.biases import FamilyGap, family_gap
from stats.kappa import cohen_kappa
from stats.ppi import Ppi, PpiSums, ppi_from_sums
from stats.prevalence import rogan_gladen_interval
from stats.proportions import Proportion, clopper_pearson, interval_coverage, wilson
from stats.resampling import Percentiles
from stats.retries import marginal_step, pool_in_blocks
from stats.sequences import bernoulli_confidence_sequence
from stats.served import served_defect_rate
from stats.stratified import StratifiedEstimate, Stratum, stratified_estimate
from stats.unavailable import Unavailable


@pytest.mark.parametrize("p", [0.01, 0.05, 0.3, 0.5, 0.95])
@pytest.mark.parametrize("n", [20, 100, 300])
def test_clopper_pearson_never_covers_less_than_it_says(n, p):
    assert interval_coverage("clopper_pearson", n, p) >= 0.95


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.95])
def test_wilson_covers_about_what_it_says_where_wald_does_not(p):
    assert interval_coverage("wilson", 100, p) == pytest.approx(0.95, abs=0.02)
    assert interval_coverage("wald", 100, 0.02) < 0.89  # the broken specimen


def test_one_sided_bounds_miss_on_one_side_only():
    rng = np.random.default_rng(1)
    draws = rng.binomial(200, 0.1, size=3000)
    uppers = [wilson(int(x), 200, side="upper") for x in draws]
    assert np.mean([bound.hi >= 0.1 for bound in uppers]) == pytest.approx(0.95, abs=0.02)
    assert all(bound.lo == 0.0 for bound in uppers)


def looks_until_excluded(interval, rng, *, weeks=26, runs=400, truth=1 / 51) -> float:
    """Share of runs in which some weekly look excludes the truth from below."""
    excluded = 0
    for _ in range(runs):
        bad = np.cumsum(rng.binomial(100, truth, size=weeks))
        bounds = (interval(int(x), 100 * (k + 1)) for k, x in enumerate(bad))
        excluded += any(isinstance(b, Proportion) and b.lo > truth for b in bounds)
    return excluded / runs


def test_a_confidence_sequence_survives_weekly_looks_and_wilson_does_not():
    # finding 4: Wilson's lower bound exceeds the truth at some look in 14.3 % (13 looks) to 19.7 % (52) of runs
    assert looks_until_excluded(bernoulli_confidence_sequence, np.random.default_rng(2)) <= 0.025
    assert looks_until_excluded(wilson, np.random.default_rng(2)) > 0.10


def test_fixed_blocks_keep_the_error_of_one_look():
    rng, wrong, truth = np.random.default_rng(3), 0, 1 / 51
    for _ in range(1000):
        ((bad, n),) = pool_in_blocks([(int(x), 100) for x in rng.binomial(100, truth, size=4)])
        wrong += marginal_step(bad, n, truth).decision == "lower"
    assert wrong / 1000 <= 0.06


def test_blocks_leave_out_a_month_that_is_not_over():
    assert pool_in_blocks([(1, 100)] * 9) == [(4, 400), (4, 400)]


def test_kappa_intervals_cover():
    rng, covered = np.random.default_rng(4), 0
    cells = np.array([0.45, 0.08, 0.07, 0.40])
    truth = ((0.85) - (0.53 * 0.52 + 0.47 * 0.48)) / (1 - (0.53 * 0.52 + 0.47 * 0.48))
    for table in rng.multinomial(150, cells, size=1500):
        k = cohen_kappa(table.reshape(2, 2).tolist())
        covered += k.lo <= truth <= k.hi
    assert covered / 1500 == pytest.approx(0.95, abs=0.02)


def test_alpha_bootstrap_intervals_cover():
    rng, covered, runs = np.random.default_rng(5), 0, 150
    flip = 0.1
    agree = (1 - flip) ** 2 + flip**2
    truth = 1 - (1 - agree) / 0.5  # balanced classes: expected disagreement is one half
    for _ in range(runs):
        unit = rng.random(150) < 0.5
        data = [(unit ^ (rng.random(150) < flip)).astype(int).tolist() for _ in range(3)]
        interval = alpha_bootstrap(data, rng=rng, n_boot=400)
        assert isinstance(interval, Percentiles)
        covered += interval.lo <= truth <= interval.hi
    assert covered / runs > 0.88


def test_the_rogan_gladen_interval_covers_with_both_samples_uncertain():
    rng, covered, runs = np.random.default_rng(6), 0, 300
    prior, spec, rec = 0.3, 0.9, 0.85
    for _ in range(runs):
        rejected = rng.binomial(1000, prior * spec + (1 - prior) * (1 - rec))
        interval = rogan_gladen_interval(
            rejected=int(rejected), n=1000, caught=int(rng.binomial(100, spec)), n_fail=100,
            kept=int(rng.binomial(100, rec)), n_pass=100, rng=rng, n_boot=1000,
        )  # fmt: skip
        assert isinstance(interval, Percentiles)
        covered += interval.lo <= prior <= interval.hi
    assert covered / runs == pytest.approx(0.95, abs=0.035)


def test_a_perfect_spec_on_a_few_fails_is_not_taken_for_certain():
    rng = np.random.default_rng(7)
    interval = rogan_gladen_interval(rejected=300, n=1000, caught=20, n_fail=20, kept=20, n_pass=20, rng=rng)
    assert isinstance(interval, Percentiles)
    assert interval.hi - interval.lo > 0.1


def test_newcombes_interval_of_a_difference_covers():
    rng, covered = np.random.default_rng(8), 0
    for _ in range(1500):
        gap = family_gap((int(rng.binomial(60, 0.3)), 60), (int(rng.binomial(90, 0.1)), 90))
        assert isinstance(gap, FamilyGap)
        covered += gap.lo <= 0.2 <= gap.hi
    assert covered / 1500 == pytest.approx(0.95, abs=0.02)


def test_stratified_intervals_cover():
    rng, covered = np.random.default_rng(9), 0
    sizes, rates = (5000, 2500, 2500), (0.05, 0.05, 0.7)
    truth = sum(s * r for s, r in zip(sizes, rates, strict=True)) / 10_000
    for _ in range(1000):
        strata = [Stratum(s, 100, int(rng.binomial(100, r))) for s, r in zip(sizes, rates, strict=True)]
        e = stratified_estimate(strata)
        assert isinstance(e, StratifiedEstimate)
        covered += bool(
            not isinstance(e.lo, Unavailable) and not isinstance(e.hi, Unavailable) and e.lo <= truth <= e.hi
        )
    assert covered / 1000 == pytest.approx(0.95, abs=0.025)


def audited(rng: np.random.Generator, p: float, n: int, total: int = 20_000) -> PpiSums:
    """A served week with an audit judge of Spec 0.8 and Rec 0.97 (finding 5), n items labelled."""
    bad = rng.random(n) < p
    flagged = np.where(bad, rng.random(n) < 0.8, rng.random(n) < 0.03)
    others = int(rng.binomial(total - n, p * 0.8 + (1 - p) * 0.03))
    y, f = int(bad.sum()), int(flagged.sum())
    return PpiSums(n, y, y, f, f, int((bad & flagged).sum()), total - n, others, others)


def test_tuned_ppi_fails_on_rare_defects_and_the_guarded_report_does_not():
    # finding 5: p = 1 %, n = 100: PPI++ covers 60 %, Wilson on the labels alone 92 %
    rng, runs, p = np.random.default_rng(10), 600, 0.01
    tuned = guarded = 0
    for _ in range(runs):
        sums = audited(rng, p, 100)
        raw = ppi_from_sums(sums, lam=None, ddof=1)
        tuned += isinstance(raw, Ppi) and not isinstance(raw.lo, Unavailable) and raw.lo <= p <= raw.hi
        report = served_defect_rate(sums)
        guarded += report.lo <= p <= report.hi
    assert tuned / runs < 0.70
    assert guarded / runs > 0.90


def test_with_enough_defects_the_audit_judge_narrows_the_interval():
    rng, runs, p = np.random.default_rng(11), 400, 0.08
    covered, narrower = 0, 0
    for _ in range(runs):
        report = served_defect_rate(audited(rng, p, 600))
        covered += report.lo <= p <= report.hi
        narrower += report.hi - report.lo < report.human.hi - report.human.lo
        assert report.tuned
    assert covered / runs == pytest.approx(0.95, abs=0.03)
    assert narrower / runs > 0.95


def test_without_a_defect_among_the_labels_the_human_interval_is_published():
    report = served_defect_rate(PpiSums(100, 0, 0, 3, 3, 0, 1900, 60, 60))
    assert report.source == "human labels"
    assert isinstance(report.ppi, Unavailable)
    assert (report.lo, report.hi) == (report.human.lo, report.human.hi)
    assert isinstance(served_defect_rate(PpiSums(0, 0, 0, 0, 0, 0, 50, 2, 2)), Unavailable)


def test_clopper_pearson_is_closed_at_both_ends():
    assert clopper_pearson(0, 7).lo == 0.0
    assert clopper_pearson(7, 7).hi == 1.0
    assert wilson(20, 20).hi == 1.0  # the bare formula leaves 0.9999999999999999
    assert wilson(0, 20).lo == 0.0
