"""The same numbers as other people's implementations, on tables nobody chose (statsmodels, scipy, numpy)."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from stats.agreement import fleiss_kappa
from stats.alpha import krippendorff_alpha
from stats.distributions import beta_quantile, binomial_at_least, chi2_quantile, normal_quantile, t_cdf, t_quantile
from stats.kappa import cohen_kappa
from stats.length_bias import LengthMoments, Slope, length_bias_slope
from stats.ppi import Ppi, PpiSums, ppi_from_sums, ppi_mean
from stats.proportions import clopper_pearson, wilson
from stats.significance import fdr_reject, sign_test
from stats.unavailable import Unavailable

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # statsmodels warns about its own imports
    from statsmodels.stats.inter_rater import cohens_kappa
    from statsmodels.stats.inter_rater import fleiss_kappa as their_fleiss
    from statsmodels.stats.multitest import multipletests
    from statsmodels.stats.proportion import proportion_confint

bounded = settings(derandomize=True, max_examples=60, deadline=None)


@bounded
@given(st.integers(1, 2000), st.floats(0, 1), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_proportion_intervals(m, share, conf):
    x = round(share * m)
    for ours, theirs in ((wilson, "wilson"), (clopper_pearson, "beta")):
        lo, hi = proportion_confint(x, m, alpha=1 - conf, method=theirs)
        found = ours(x, m, conf=conf)
        assert (found.lo, found.hi) == pytest.approx((lo, hi), abs=1e-9)


@bounded
@given(st.lists(st.lists(st.integers(0, 40), min_size=3, max_size=3), min_size=3, max_size=3))
def test_cohen_kappa_and_its_errors(table):
    found = cohen_kappa(table)
    if isinstance(found, Unavailable) or isinstance(found.kappa, Unavailable):
        diagonal = sum(table[k][k] > 0 for k in range(3))
        assert sum(map(sum, table)) == 0 or (diagonal == 1 and sum(c > 0 for row in table for c in row) == 1)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = cohens_kappa(np.array(table))
    assert found.kappa == pytest.approx(theirs.kappa, abs=1e-10)
    if np.isfinite(theirs.std_kappa) and theirs.var_kappa > 1e-12:
        assert found.se == pytest.approx(theirs.std_kappa, abs=1e-8)


@bounded
@given(st.lists(st.integers(0, 4), min_size=2, max_size=30))
def test_fleiss_kappa(fails):
    counts = [[k, 4 - k] for k in fails]
    found = fleiss_kappa(counts)
    assert not isinstance(found, Unavailable)
    if not isinstance(found.kappa, Unavailable):
        assert found.kappa == pytest.approx(their_fleiss(np.array(counts)), abs=1e-10)
    else:
        assert len(set(fails)) == 1
        assert fails[0] in (0, 4)


def plain_alpha(data, distance):
    """Krippendorff's definition over pairs, without any matrix."""
    units = [[v for v in unit if v is not None] for unit in zip(*data, strict=True)]
    units = [unit for unit in units if len(unit) >= 2]
    values = [v for unit in units for v in unit]
    within = sum(distance(a, b) / (len(u) - 1) for u in units for a, b in itertools.permutations(u, 2))
    across = sum(distance(a, b) for a, b in itertools.permutations(values, 2))
    return 1 - (len(values) - 1) * within / across if across else None


@bounded
@given(
    st.lists(st.lists(st.sampled_from([0, 1, 2, 5, None]), min_size=6, max_size=6), min_size=2, max_size=4),
    st.sampled_from(["nominal", "interval", "ratio"]),
)
def test_alpha_is_the_plain_definition(data, level):
    distances = {
        "nominal": lambda a, b: float(a != b),
        "interval": lambda a, b: float((a - b) ** 2),
        "ratio": lambda a, b: ((a - b) / (a + b)) ** 2 if a + b else 0.0,
    }
    expected = plain_alpha(data, distances[level])
    found = krippendorff_alpha(data, level=level)
    if expected is None:
        assert isinstance(found, Unavailable)
    else:
        assert found == pytest.approx(expected, abs=1e-10)


def test_counting_every_unit_twice_changes_alpha():
    once = [[1, 1, 2, 2, 1], [1, 2, 2, 2, 1]]
    assert krippendorff_alpha(once) != krippendorff_alpha([row * 2 for row in once])


@bounded
@given(st.lists(st.floats(0, 1), max_size=15), st.sampled_from(["bh", "by"]))
def test_false_discovery_control(p_values, method):
    found = fdr_reject(p_values, method=method)
    if p_values:
        theirs = multipletests(p_values, alpha=0.05, method={"bh": "fdr_bh", "by": "fdr_by"}[method])[0]
        assert found == theirs.tolist()


@bounded
@given(st.integers(0, 60), st.integers(0, 60))
def test_the_sign_test(wins, losses):
    if wins + losses:
        assert sign_test(wins, losses) == pytest.approx(scipy_stats.binomtest(wins, wins + losses).pvalue, abs=1e-10)


@bounded
@given(st.floats(0.001, 0.999), st.integers(1, 400))
def test_quantiles_and_tails(p, df):
    assert normal_quantile(p) == pytest.approx(scipy_stats.norm.ppf(p), abs=1e-9)
    assert t_quantile(p, df) == pytest.approx(scipy_stats.t.ppf(p, df), rel=1e-8, abs=1e-8)
    assert t_cdf(-3.0, df) == pytest.approx(scipy_stats.t.cdf(-3.0, df), rel=1e-9)
    assert chi2_quantile(p, df) == pytest.approx(scipy_stats.chi2.ppf(p, df), rel=1e-8)
    assert beta_quantile(p, df, 3) == pytest.approx(scipy_stats.beta.ppf(p, df, 3), rel=1e-8)
    assert binomial_at_least(df // 3, df, p) == pytest.approx(scipy_stats.binom.sf(df // 3 - 1, df, p), abs=1e-10)


@bounded
@given(st.lists(st.tuples(st.floats(-3, 3), st.integers(1, 3000)), min_size=4, max_size=30))
def test_the_length_slope_in_one_go_and_as_a_stream(runs):
    scores, lengths = zip(*runs, strict=True)
    found, stream = length_bias_slope(scores, lengths), LengthMoments()
    for run in runs:
        stream = stream.add(*run)
    if len(set(lengths)) == 1:
        assert isinstance(found, Unavailable)
        return
    theirs = scipy_stats.linregress(np.log(lengths), scores)
    assert isinstance(found, Slope)
    assert found.slope == pytest.approx(theirs.slope, rel=1e-6, abs=1e-9)
    streamed = stream.slope()
    assert isinstance(streamed, Slope)
    assert streamed.slope == pytest.approx(found.slope, rel=1e-5, abs=1e-5)


def test_big_offsets_do_not_break_the_streamed_slope():
    # statistics page, 8.3: naive float sums gave 1.0 where 1.955 was right
    rng = np.random.default_rng(1)
    stream = LengthMoments()
    lengths = [1e8 * (1 + 1e-6 * i) for i in range(50)]
    scores = [1e6 + 2 * float(np.log(v)) for v in lengths]
    for i in rng.permutation(50):
        stream = stream.add(scores[i], lengths[i])
    slope = stream.slope()
    assert isinstance(slope, Slope)
    assert slope.slope == pytest.approx(2.0, abs=1e-3)


@bounded
@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=40),
    st.lists(st.integers(0, 1), min_size=2, max_size=60),
    st.sampled_from([1.0, 0.5, None]),
)
def test_ppi_from_sums_is_ppi_from_columns(labelled, unlabelled, lam):
    y, f = (list(column) for column in zip(*labelled, strict=True))
    sums = PpiSums(
        len(y), sum(y), sum(y), sum(f), sum(f), sum(a * b for a, b in labelled),
        len(unlabelled), sum(unlabelled), sum(unlabelled),
    )  # fmt: skip
    columns, summed = ppi_mean(y, f, unlabelled, lam=lam, ddof=1), ppi_from_sums(sums, lam=lam, ddof=1)
    assert isinstance(columns, Ppi)
    assert isinstance(summed, Ppi)
    assert summed.estimate == pytest.approx(columns.estimate, abs=1e-12)
    assert summed.se == pytest.approx(columns.se, abs=1e-9)
    assert sums.plus(sums).minus(sums) == sums
