"""Does the judge prefer long answers? The slope of its score on log length (S1 "Length"), mergeable too."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from stats.checks import StatsInputError, count, real, reals, same_length
from stats.distributions import t_quantile
from stats.unavailable import Unavailable

TOO_FEW = "fewer than three scored runs: no residual degree of freedom"
ONE_LENGTH = "all lengths are equal: no slope"


@dataclass(frozen=True, slots=True)
class Slope:
    """Change of the score when the length grows by a factor e, with its t interval."""

    slope: float
    se: float
    lo: float
    hi: float
    n: int


def length_bias_slope(scores: Sequence[float], lengths: Sequence[float], *, conf: float = 0.95) -> Slope | Unavailable:
    """Least squares of the score on log(length) with n - 2 degrees of freedom.

    Unavailable below three runs or when all lengths are equal.

    >>> length_bias_slope([0.0, 1.0, 2.0], [1, math.e, math.e**2]).slope
    1.0
    """
    n = same_length(scores=scores, lengths=lengths)
    y = reals("scores", scores)
    x = np.array([math.log(real(f"lengths[{i}]", v, above=0.0)) for i, v in enumerate(lengths)])
    if n < 3:
        return Unavailable(TOO_FEW)
    dx, dy = x - x.mean(), y - y.mean()
    if (x == x[0]).all():
        return Unavailable(ONE_LENGTH)
    return _slope(n, float(dx @ dx), float(dx @ dy), float(dy @ dy), conf)


@dataclass(frozen=True, slots=True)
class LengthMoments:
    """The same regression as six integers (values in units of 1/scale): they add up and can be taken back exactly.

    Floats would not: sums of squares near 1e8 gave a slope of 1.0 where 1.955 was right.
    """

    scale: int = 10**9
    n: int = 0
    sx: int = 0
    sy: int = 0
    sxx: int = 0
    sxy: int = 0
    syy: int = 0

    def add(self, score: float, length: float, *, times: int = 1) -> LengthMoments:
        """One more scored run; ``times=-1`` takes one back."""
        x = round(math.log(real("length", length, above=0.0)) * self.scale)
        y = round(real("score", score) * self.scale)
        one = LengthMoments(self.scale, 1, x, y, x * x, x * y, y * y)
        return self._plus(one, times)

    def retract(self, score: float, length: float) -> LengthMoments:
        return self.add(score, length, times=-1)

    def merge(self, other: LengthMoments) -> LengthMoments:
        if other.scale != self.scale:
            raise StatsInputError("scale", other.scale, f"must be {self.scale}")
        return self._plus(other, 1)

    def slope(self, *, conf: float = 0.95) -> Slope | Unavailable:
        if self.n < 3:
            return Unavailable(TOO_FEW)
        sxx, sxy, syy = (
            Fraction(self.n * product - left * right, self.n * self.scale**2)
            for product, left, right in (
                (self.sxx, self.sx, self.sx),
                (self.sxy, self.sx, self.sy),
                (self.syy, self.sy, self.sy),
            )
        )
        return _slope(self.n, float(sxx), float(sxy), float(syy), conf) if sxx else Unavailable(ONE_LENGTH)

    def to_json(self) -> dict[str, int]:
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> LengthMoments:
        return cls(**document)

    def _plus(self, other: LengthMoments, times: int) -> LengthMoments:
        return LengthMoments(
            count("scale", self.scale, at_least=1),
            self.n + times * other.n,
            self.sx + times * other.sx,
            self.sy + times * other.sy,
            self.sxx + times * other.sxx,
            self.sxy + times * other.sxy,
            self.syy + times * other.syy,
        )


def _slope(n: int, sxx: float, sxy: float, syy: float, conf: float) -> Slope:
    slope = sxy / sxx
    residual = max(syy - slope * sxy, 0.0)
    se = math.sqrt(residual / (n - 2) / sxx)
    reach = t_quantile(0.5 + conf / 2, n - 2) * se
    return Slope(slope, se, slope - reach, slope + reach, n)
