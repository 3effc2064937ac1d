"""A rate that somebody looks at every week needs a bound that survives the looking."""

from __future__ import annotations

import math
from collections.abc import Callable

from stats.checks import count, open_share, real, successes
from stats.proportions import NO_TRIALS, Proportion
from stats.unavailable import Unavailable


def bernoulli_confidence_sequence(
    x: int, n: int, *, conf: float = 0.95, a: float = 0.5, b: float = 0.5
) -> Proportion | Unavailable:
    """An interval for a rate that holds at every look at once, however often you look.

    Robbins' mixture: the true p stays inside with probability ``conf`` over the whole run; a and b are the Beta
    mixture's parameters. Wider than Wilson: with the true rate on the limit, weekly Wilson bounds cross it at some look
    in 14 % of 13-week quarters. Unavailable at n = 0.
    Source: Robbins (1970); statistics page, finding 4.

    >>> r = bernoulli_confidence_sequence(20, 400)
    >>> round(r.lo, 4), round(r.hi, 4)
    (0.0205, 0.0979)
    """
    n = count("n", n)
    x = successes("x", x, n)
    a, b = real("a", a, above=0.0), real("b", b, above=0.0)
    log_limit = -math.log(1 - open_share("conf", conf))
    if n == 0:
        return Unavailable(NO_TRIALS)
    mixture = _log_beta(x + a, n - x + b) - _log_beta(a, b)

    def outside(p: float) -> bool:
        return mixture - _log_likelihood(x, n, p) >= log_limit

    p = x / n
    lo = 0.0 if x == 0 else _edge(outside, 0.0, p)
    hi = 1.0 if x == n else _edge(outside, 1.0, p)
    return Proportion(x, n, p, lo, hi)


def _edge(outside: Callable[[float], bool], out: float, inside: float) -> float:
    """Where the interval ends between a value outside and one inside, by bisection to the last bit."""
    for _ in range(100):
        middle = (out + inside) / 2
        if outside(middle):
            out = middle
        else:
            inside = middle
    return inside


def _log_likelihood(x: int, n: int, p: float) -> float:
    failures = n - x
    passed = x * math.log(p) if x and p > 0 else (-math.inf if x else 0.0)
    failed = failures * math.log1p(-p) if failures and p < 1 else (-math.inf if failures else 0.0)
    return passed + failed


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
