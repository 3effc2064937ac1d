"""The quantiles and tails the rest needs. scipy.special, not scipy.stats: a tenth of the import time."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from stats.checks import Floats, open_share

_NORMAL = NormalDist()


def normal_quantile(p: float) -> float:
    """The standard normal value below which a share p lies.

    >>> round(normal_quantile(0.975), 2), round(normal_quantile(0.95), 3)
    (1.96, 1.645)
    """
    return _NORMAL.inv_cdf(open_share("p", p))


def two_sided_z(conf: float) -> float:
    """How many standard errors a two-sided interval of this confidence reaches to either side."""
    return normal_quantile(0.5 + open_share("conf", conf) / 2)


def t_quantile(p: float, df: float) -> float:
    """Student's t with df degrees of freedom: the value below which a share p lies."""
    from scipy.special import stdtrit

    return float(stdtrit(df, p))


def t_cdf(t: float, df: float) -> float:
    """Student's t with df degrees of freedom: the share below t."""
    from scipy.special import stdtr

    return float(stdtr(df, t))


def chi2_quantile(p: float, df: float) -> float:
    """Chi-square with df degrees of freedom: the value below which a share p lies."""
    from scipy.special import gammaincinv

    return 2.0 * float(gammaincinv(df / 2, p))


def beta_quantile(p: float, a: float, b: float) -> float:
    """Beta(a, b): the value below which a share p lies."""
    from scipy.special import betaincinv

    return float(betaincinv(a, b, p))


def binomial_at_least(k: int, n: int, p: float) -> float:
    """P(X >= k) for X binomial(n, p)."""
    if k <= 0:
        return 1.0
    if k > n:
        return 0.0
    from scipy.special import betainc

    return float(betainc(k, n - k + 1, p))


def binomial_pmf(n: int, p: float) -> Floats:
    """P(X = x) for x = 0..n, X binomial(n, p)."""
    from scipy.special import gammaln, xlog1py, xlogy

    x = np.arange(n + 1, dtype=np.float64)
    choose = gammaln(n + 1) - gammaln(x + 1) - gammaln(n - x + 1)
    return np.asarray(np.exp(choose + xlogy(x, p) + xlog1py(n - x, -p)), dtype=np.float64)
