"""Two small tests: did it win more often than a coin would, and which of many p-values survive together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from stats.checks import choice, count, open_share, share
from stats.distributions import binomial_at_least
from stats.unavailable import Number, Unavailable

Fdr = Literal["by", "bh"]


def sign_test(wins: int, losses: int, *, method: Literal["exact", "normal"] = "exact") -> Number:
    """Two-sided sign test, ties left out by the caller; unavailable when nothing but ties was seen.

    ``normal`` is the approximation without continuity correction. Source: S2 3.5.

    >>> round(sign_test(8, 0), 4), round(sign_test(7, 1), 3), round(sign_test(7, 1, method="normal"), 3)
    (0.0078, 0.07, 0.034)
    """
    wins, losses = count("wins", wins), count("losses", losses)
    choice("method", method, ("exact", "normal"))
    n = wins + losses
    if n == 0:
        return Unavailable("no pair was won or lost")
    if method == "normal":
        return math.erfc(abs(wins - losses) / math.sqrt(2 * n))
    return min(1.0, 2 * binomial_at_least(max(wins, losses), n, 0.5))


def fdr_reject(p_values: Sequence[float | None], *, q: float = 0.05, method: Fdr = "by") -> list[bool]:
    """Which hypotheses fall at a false-discovery rate of q: Benjamini-Yekutieli (any dependence) or -Hochberg.

    ``None`` is untestable: it is not rejected and does not count as a test.
    Source: Benjamini & Hochberg (1995), Benjamini & Yekutieli (2001).

    >>> fdr_reject([0.001, None, 0.9])
    [True, False, False]
    """
    choice("method", method, ("by", "bh"))
    q = open_share("q", q)
    tested = sorted((share("p_values", p), i) for i, p in enumerate(p_values) if p is not None)
    m = len(tested)
    spread = sum(1 / k for k in range(1, m + 1)) if method == "by" else 1.0
    passing = [k for k, (p, _) in enumerate(tested, start=1) if p <= q * k / (m * spread)]
    rejected = {i for _, i in tested[: max(passing, default=0)]}
    return [i in rejected for i in range(len(p_values))]
