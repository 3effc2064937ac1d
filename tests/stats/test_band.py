"""The band rule against its plain definition, on the bound, and as a simulation (S2 5.2, 6.4, 8.3)."""

from __future__ import annotations

import random
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stats.band import Band, band_from_counts, band_margin
from stats.band_bootstrap import BandBootstrap, band_bootstrap, band_bootstrap_from_counts
from stats.panel import panel_counts
from stats.synthetic import false_alarm_rate, synthetic_week
from stats.tuning import Rule, tune_band
from stats.unavailable import Unavailable


def plain_margin(judge, panel, weights, target, width, leave_one_out):
    """S2 8.3 in so many words; None where a metric is undefined."""
    judge_scores, rater_scores = [], []
    for i, rater in enumerate(panel):
        total = hit = caught = 0.0
        for j, mine in enumerate(rater):
            votes = [r[j] for k, r in enumerate(panel) if r[j] is not None and not (leave_one_out and k == i)]
            agree = sum(v == target for v in votes)
            if mine is None or 2 * agree <= len(votes):
                continue
            total += weights[j]
            hit += weights[j] * (mine == target)
            caught += weights[j] * (judge[j] == target)
        if total == 0:
            return None
        judge_scores.append(caught / total)
        rater_scores.append(hit / total)
    return statistics.mean(judge_scores) - (statistics.mean(rater_scores) - width * statistics.stdev(rater_scores))


weeks = st.integers(3, 5).flatmap(
    lambda raters: st.lists(
        st.tuples(
            st.sampled_from(["pass", "fail", "abstain"]),
            st.tuples(*[st.sampled_from(["pass", "fail", "fail", None])] * raters),
            st.sampled_from([1.0, 2.5, 0.1, 0.0]),
        ),
        min_size=1,
        max_size=25,
    )
)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(weeks, st.booleans(), st.sampled_from(["specificity", "recall"]), st.sampled_from([0.0, 2.0, 3.37]))
def test_the_margin_is_the_plain_definition(week, leave_one_out, metric, width):
    judge, votes, weights = (list(column) for column in zip(*week, strict=True))
    panel = [list(row) for row in zip(*votes, strict=True)]
    target = "fail" if metric == "specificity" else "pass"
    expected = plain_margin(judge, panel, weights, target, width, leave_one_out)
    found = band_margin(judge, panel, weights=weights, metric=metric, width=width, leave_one_out=leave_one_out)
    if expected is None:
        assert isinstance(found, Unavailable)
    else:
        assert isinstance(found, Band)
        assert found.margin == pytest.approx(expected, abs=1e-12)
        assert found.inside == (found.margin >= 0)


def test_a_judge_exactly_on_the_bound_is_inside_where_floats_would_alert():
    # statistics page, 2: weeks 89 and 207 of the literal rule lie on the bound; floats give -1.1e-16
    for seed in (89, 207):
        judge, panel = synthetic_week(seed=seed)
        found = band_margin(judge, panel, width=2.0, leave_one_out=False)
        assert isinstance(found, Band)
        assert found.inside
        assert found.margin == 0.0
        assert plain_margin(judge, panel, [1.0] * 300, "fail", 2.0, False) < 0


def test_the_weights_scale_does_not_matter():
    judge, panel = synthetic_week(n=60, seed=1)
    weights = [random.Random(i).choice([1, 4, 10]) for i in range(60)]
    one = band_margin(judge, panel, weights=weights)
    ten = band_margin(judge, panel, weights=[w * 0.1 for w in weights])
    assert one.margin == pytest.approx(ten.margin, abs=1e-12)


def test_two_raters_are_no_panel_and_the_reason_says_so():
    found = band_margin(["fail"], [["fail"], ["pass"]])
    assert isinstance(found, Unavailable)
    assert found.reason == "panel: the band needs at least 3 raters, not 2"


def test_counts_and_raw_labels_give_the_same_band_and_the_same_bits():
    judge, panel = synthetic_week(seed=4)
    strata = ["served" if label == "pass" else "dropped" for label in judge]
    weights = [3.0 if s == "served" else 1.0 for s in strata]
    counts = panel_counts(judge, panel, weights=weights, strata=strata)
    assert band_from_counts(counts) == band_margin(judge, panel, weights=weights)
    raw = band_bootstrap(judge, panel, weights=weights, strata=strata, rng=np.random.default_rng(5))
    assert raw == band_bootstrap_from_counts(counts, rng=np.random.default_rng(5))


def test_the_bootstrap_is_the_law_of_resampling_items():
    judge, panel = synthetic_week(n=120, seed=6)
    found = band_bootstrap(judge, panel, rng=np.random.default_rng(7), n_boot=4000)
    rng, margins = random.Random(8), []
    for _ in range(1500):
        drawn = [rng.randrange(120) for _ in range(120)]
        margin = plain_margin(
            [judge[j] for j in drawn], [[row[j] for j in drawn] for row in panel], [1.0] * 120, "fail", 3.37, True
        )
        margins.append(margin)
    assert isinstance(found, BandBootstrap)
    assert found.p_inside == pytest.approx(sum(m >= 0 for m in margins) / len(margins), abs=0.03)
    assert found.lo == pytest.approx(sorted(margins)[37], abs=0.03)
    assert found.hi == pytest.approx(sorted(margins)[1461], abs=0.03)


def test_a_slice_with_one_fail_loses_a_third_of_its_resamples_and_says_so():
    # statistics page, 8.11: (1 - 1/20)^20 = 36 %
    judge, panel = ["fail", *["pass"] * 19], [["fail", *["pass"] * 19]] * 3
    found = band_bootstrap(judge, panel, rng=np.random.default_rng(9))
    assert isinstance(found, BandBootstrap)
    assert found.n_dropped / found.n_boot == pytest.approx(0.358, abs=0.03)
    assert not found.trustworthy


# S2 6.4 and 8.3: minimum and maximum over five blocks of 300 seeds
@pytest.mark.parametrize(
    ("options", "low", "high"),
    [
        ({"leave_one_out": False}, 0.55, 0.58),
        ({"leave_one_out": True}, 0.09, 0.123),
        ({"leave_one_out": True, "width": 3.37}, 0.037, 0.05),
        ({"leave_one_out": True, "judge_acc": 0.75}, 0.797, 0.83),
    ],
)
def test_simulated_weeks_alarm_as_often_as_the_seed_says(options, low, high):
    assert low - 0.01 <= false_alarm_rate(seed_from=300, seed_to=600, **options) <= high + 0.01


def test_the_tuning_table_shows_which_rule_is_better_on_both_sides():
    rules = [Rule(2.0), Rule(3.37), Rule(2.0, 0.5), Rule(3.37, 0.5), Rule(2.0, None, 2)]
    found = tune_band(rules, rng=np.random.default_rng(1), weeks=600, n_boot=200)
    assert isinstance(found, list)
    false_alarms, power = [row.false_alarm for row in found], [row.power for row in found]
    # statistics page, finding 2, 2,000 weeks: 12.5 / 5.7 / 4.3 / 0.4 % and 79.7 / 56.4 / 68.5 / 33.6 %
    assert false_alarms[:4] == pytest.approx([0.125, 0.057, 0.043, 0.004], abs=0.03)
    assert power[:4] == pytest.approx([0.797, 0.564, 0.685, 0.336], abs=0.06)
    assert false_alarms[4] == pytest.approx(false_alarms[0] ** 2)
