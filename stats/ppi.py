"""Prediction-powered inference: an audit judge sees everything, people see a few, and both are used (S2 6.3).

The literal estimators are here; ``served_defect_rate`` (served.py) puts the guards around them that reports need.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stats.checks import Floats, StatsInputError, choice, count, real, reals, same_length
from stats.distributions import normal_quantile, two_sided_z
from stats.proportions import SIDES, Side
from stats.unavailable import Number, Unavailable

FLAT = "the estimate has no spread: the interval would have no width"


@dataclass(frozen=True, slots=True)
class Ppi:
    """estimate with its standard error; lam: how far the predictions were trusted (1 plain PPI, tuned in PPI++)."""

    estimate: float
    se: float
    lam: float
    lo: Number
    hi: Number


class PpiSums(NamedTuple):
    """Nine sums say it all, and they add up: labelled n, y, y^2, f, f^2, y f; unlabelled N, f, f^2."""

    n: int
    sy: float
    syy: float
    sf: float
    sff: float
    syf: float
    n_unlabeled: int
    su: float
    suu: float

    def plus(self, other: PpiSums) -> PpiSums:
        return PpiSums._make(a + b for a, b in zip(self, other, strict=True))

    def minus(self, other: PpiSums) -> PpiSums:
        return PpiSums._make(a - b for a, b in zip(self, other, strict=True))


class _Centred(NamedTuple):
    n: int
    n_unlabeled: int
    y: float
    f: float
    u: float
    yy: float
    ff: float
    yf: float
    uu: float


def ppi_mean(
    y: Sequence[float],
    f: Sequence[float],
    f_unlabeled: Sequence[float],
    *,
    lam: float | None = 1.0,
    conf: float = 0.95,
    ddof: int = 0,
    side: Side = "two-sided",
    clip: bool = True,
) -> Ppi | Unavailable:
    """The mean of y over the population: lam mean(f_unlabeled) + mean(y - lam f).

    y, f: human label and audit verdict of the labelled items, drawn uniformly; f_unlabeled: verdicts of the others.
    lam 1 is PPI; None tunes it (PPI++), clipped to [0, 1] when ``clip``. ddof 0 as in ppi_py, 1 is unbiased. The
    interval is normal: check its coverage when defects are rare. Unavailable with fewer than 2 items on either side.
    Source: Angelopoulos et al. (2023), Angelopoulos, Duchi & Zrnic (2023).
    """
    same_length(y=y, f=f)
    columns = {"y": y, "f": f, "f_unlabeled": f_unlabeled}
    ys, fs, us = (reals(name, column, flags=True) for name, column in columns.items())
    if len(ys) < 2 or len(us) < 2:
        return Unavailable("fewer than two labelled or unlabelled items")
    return _estimate(_centre(ys, fs, us), lam, conf, ddof, side, clip)


def ppi_from_sums(
    sums: PpiSums,
    *,
    lam: float | None = 1.0,
    conf: float = 0.95,
    ddof: int = 0,
    side: Side = "two-sided",
    clip: bool = True,
) -> Ppi | Unavailable:
    """The same from the nine sums; exact when they are integers (0/1 labels and verdicts)."""
    n, big = count("n", sums.n), count("n_unlabeled", sums.n_unlabeled)
    for name, value in zip(PpiSums._fields, sums, strict=True):
        real(name, value)
    if n < 2 or big < 2:
        return Unavailable("fewer than two labelled or unlabelled items")
    centred = _Centred(
        n,
        big,
        sums.sy / n,
        sums.sf / n,
        sums.su / big,
        _cross(n, sums.sy, sums.sy, sums.syy),
        _cross(n, sums.sf, sums.sf, sums.sff),
        _cross(n, sums.sy, sums.sf, sums.syf),
        _cross(big, sums.su, sums.su, sums.suu),
    )
    return _estimate(centred, lam, conf, ddof, side, clip)


class PpiStratum(NamedTuple):
    """size: items in production; y, f: labelled; f_unlabeled: the other verdicts of this stratum."""

    size: float
    y: Sequence[float]
    f: Sequence[float]
    f_unlabeled: Sequence[float]


@dataclass(frozen=True, slots=True)
class StratPpi:
    """The stratified estimate; lams: how far each stratum trusted the predictions."""

    estimate: float
    se: float
    lams: tuple[float, ...]
    lo: Number
    hi: Number


def strat_ppi(
    strata: Sequence[PpiStratum],
    *,
    lam: float | None = None,
    conf: float = 0.95,
    ddof: int = 1,
    clip: bool = True,
) -> StratPpi | Unavailable:
    """StratPPI (Fisch et al. 2024): PPI within each stratum with its own lam, weighted by size; uniform within strata.

    Strata of size 0 are left out; unavailable when any other stratum is.
    """
    z = two_sided_z(conf)
    sizes = [real(f"strata[{i}].size", s.size, at_least=0.0) for i, s in enumerate(strata)]
    total = math.fsum(sizes)
    if total == 0:
        return Unavailable("empty population")
    estimate = variance = 0.0
    lams = []
    for size, stratum in zip(sizes, strata, strict=True):
        if size == 0:
            continue
        part = ppi_mean(stratum.y, stratum.f, stratum.f_unlabeled, lam=lam, conf=conf, ddof=ddof, clip=clip)
        if isinstance(part, Unavailable):
            return part
        estimate += size / total * part.estimate
        variance += (size / total * part.se) ** 2
        lams.append(part.lam)
    se = math.sqrt(variance)
    flat = Unavailable(FLAT)
    return StratPpi(estimate, se, tuple(lams), estimate - z * se if se else flat, estimate + z * se if se else flat)


def _centre(ys: Floats, fs: Floats, us: Floats) -> _Centred:
    y, f, u = ys - ys.mean(), fs - fs.mean(), us - us.mean()
    means = float(ys.mean()), float(fs.mean()), float(us.mean())
    return _Centred(len(ys), len(us), *means, float(y @ y), float(f @ f), float(y @ f), float(u @ u))


def _cross(n: int, sa: float, sb: float, sab: float) -> float:
    """Centred sum of products; what rounding leaves of a constant column is 0."""
    centred = sab - sa * sb / n
    return 0.0 if abs(centred) < 1e-12 * max(abs(sab), 1e-300) else float(centred)


def _estimate(c: _Centred, lam: float | None, conf: float, ddof: int, side: Side, clip: bool) -> Ppi | Unavailable:
    if count("ddof", ddof) > 1:
        raise StatsInputError("ddof", ddof, "must be 0 or 1")
    choice("side", side, SIDES)
    trust = _tuned(c, ddof, clip) if lam is None else real("lam", lam)
    estimate = trust * c.u + c.y - trust * c.f
    rectifier = max(c.yy - 2 * trust * c.yf + trust**2 * c.ff, 0.0) / (c.n - ddof)
    if rectifier < 1e-15 * (c.yy + trust**2 * c.ff):
        rectifier = 0.0
    se = math.sqrt(trust**2 * c.uu / (c.n_unlabeled - ddof) / c.n_unlabeled + rectifier / c.n)
    if se == 0:
        return Ppi(estimate, se, trust, Unavailable(FLAT), Unavailable(FLAT))
    z = two_sided_z(conf) if side == "two-sided" else normal_quantile(conf)
    open_end = Unavailable(f"one-sided: there is only a bound from {'below' if side == 'lower' else 'above'}")
    lo = open_end if side == "upper" else estimate - z * se
    return Ppi(estimate, se, trust, lo, open_end if side == "lower" else estimate + z * se)


def _tuned(c: _Centred, ddof: int, clip: bool) -> float:
    """PPI++: the lam of least variance; 0 when the predictions are constant."""
    pooled = c.n + c.n_unlabeled
    between = c.n * c.n_unlabeled / pooled * (c.f - c.u) ** 2
    variance = (c.ff + c.uu + between) / (pooled - 1)
    if variance == 0:
        return 0.0
    lam = c.yf / (c.n - ddof) / ((1 + c.n / c.n_unlabeled) * variance)
    return min(max(lam, 0.0), 1.0) if clip else lam
