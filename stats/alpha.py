"""Krippendorff's alpha: any number of raters, missing ratings, nominal to ratio scale; mergeable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from stats.checks import Floats, Ints, StatsInputError, choice, count, open_labels, open_share, real
from stats.resampling import Percentiles, percentiles
from stats.unavailable import Number, Unavailable

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")
NO_PAIRS = "no unit has two ratings"
ONE_VALUE = "only one value among the pairable ratings: alpha is undefined"


def krippendorff_alpha(
    data: Sequence[Sequence[Any]], *, level: Level = "nominal", domain: Sequence[Hashable] | None = None
) -> Number:
    """data[rater][unit], ``None`` where a rating is missing.

    domain: the values in their order (needed for ordinal words); by default those seen, sorted. Unavailable when no
    unit has two ratings or all pairable ratings are one value. Count every unit once: duplicates change alpha.
    Source: Krippendorff (1970, 2004).

    >>> a = krippendorff_alpha([[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]])
    >>> round(a, 3)  # Krippendorff (2011)
    0.095
    """
    choice("level", level, LEVELS)
    units = _units(data, domain)
    return _alpha(_coincidences(units.counts, units.sizes), _positions(units.values, level), level)


def alpha_bootstrap(
    data: Sequence[Sequence[Any]],
    *,
    rng: np.random.Generator,
    level: Level = "nominal",
    domain: Sequence[Hashable] | None = None,
    n_boot: int = 2000,
    conf: float = 0.95,
) -> Percentiles | Unavailable:
    """Percentile interval of alpha over resampled units; resamples without an alpha are dropped and counted.

    For the exit rule of S2 7.4: point estimate at least 0.800, lower bound at least 0.667.
    """
    choice("level", level, LEVELS)
    n_boot, conf = count("n_boot", n_boot, at_least=1), open_share("conf", conf)
    units = _units(data, domain)
    paired = units.counts.sum(axis=1) >= 2
    sizes, values = units.sizes[paired], units.values
    if not len(sizes):
        return Unavailable(NO_PAIRS)
    one = np.ones(1, dtype=np.int64)
    per_kind = np.stack([_coincidences(kind[None, :], one).ravel() for kind in units.counts[paired]])
    drawn = rng.multinomial(sizes.sum(), sizes / sizes.sum(), size=n_boot)
    pairs = (drawn @ per_kind).reshape(n_boot, len(values), len(values))
    observed, expected, n = _disagreement(pairs, _positions(values, level), level)
    kept = expected > 0
    return percentiles(1 - (n[kept] - 1) * observed[kept] / expected[kept], n_boot, conf=conf)


@dataclass(slots=True)
class AlphaState:
    """Alpha as integers that add up: for each number of ratings m, the ordered pairs seen inside units of that size.

    Order and split of the additions do not matter, and a retracted unit leaves no trace. A unit that gains a rating is
    retracted and added again, so an open unit's count vector must be kept until it closes.
    """

    domain: tuple[Hashable, ...]
    pairs: dict[int, Ints] = field(default_factory=dict)

    def add(self, counts: Sequence[int], times: int = 1) -> None:
        """Fold one unit: counts[k] ratings of value domain[k]. ``times=-1`` takes it back."""
        vector = np.array([count("counts", c) for c in counts], dtype=np.int64)
        if len(vector) != len(self.domain):
            raise StatsInputError("counts", len(vector), f"must have one entry a value, {len(self.domain)}")
        m = int(vector.sum())
        if m < 2:
            return
        total = self.pairs.get(m, 0) + times * (np.outer(vector, vector) - np.diag(vector))
        self.pairs[m] = total
        if not total.any():
            del self.pairs[m]

    def retract(self, counts: Sequence[int]) -> None:
        self.add(counts, times=-1)

    def merge(self, other: AlphaState) -> AlphaState:
        """Both states together; they must speak of the same values in the same order."""
        if self.domain != other.domain:
            raise StatsInputError("domain", other.domain, f"must be {self.domain}")
        sums = {m: self.pairs.get(m, 0) + other.pairs.get(m, 0) for m in {*self.pairs, *other.pairs}}
        return AlphaState(self.domain, {m: np.asarray(s) for m, s in sums.items() if np.any(s)})

    def alpha(self, level: Level = "nominal") -> Number:
        choice("level", level, LEVELS)
        if not self.pairs:
            return Unavailable(NO_PAIRS)
        coincidences = sum((s / (m - 1) for m, s in self.pairs.items()), np.zeros((len(self.domain),) * 2))
        return _alpha(coincidences, _positions(self.domain, level), level)

    def to_json(self) -> dict[str, Any]:
        return {"domain": list(self.domain), "pairs": {str(m): s.tolist() for m, s in self.pairs.items()}}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> AlphaState:
        pairs = {int(m): np.array(s, dtype=np.int64) for m, s in document["pairs"].items()}
        return cls(tuple(document["domain"]), pairs)


class _Units(NamedTuple):
    """The distinct kinds of units: counts (kinds, values), how many units of each kind, the values in their order."""

    counts: Ints
    sizes: Ints
    values: list[Any]


def _units(data: Sequence[Sequence[Any]], domain: Sequence[Hashable] | None) -> _Units:
    widths = {len(row) for row in data}
    if len(widths) > 1:
        raise StatsInputError("data", sorted(widths), "must have one entry a unit for every rater")
    kinds = Counter(zip(*data, strict=True))  # a set of units has few distinct columns: code those only
    flat = [value for kind in kinds for value in kind]
    seen = {value for value in set(open_labels("data", flat)) if value is not None}
    values = list(domain) if domain is not None else _sorted(seen)
    code: dict[Any, int] = {value: k for k, value in enumerate(values)}
    if unknown := seen - code.keys():
        raise StatsInputError("data", next(iter(unknown)), f"must hold only {', '.join(map(str, values))} or None")
    code[None] = len(values)
    coded = np.array([code[value] for value in flat], dtype=np.int64).reshape(len(kinds), len(data))
    cells = np.arange(len(kinds))[:, None] * (len(values) + 1) + coded
    width = len(values) + 1
    counts = np.bincount(cells.ravel(), minlength=len(kinds) * width).reshape(len(kinds), width)
    return _Units(counts[:, : len(values)], np.array(list(kinds.values()), dtype=np.int64), values)


def _sorted(values: set[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError as error:
        raise StatsInputError("data", sorted(map(str, values)), "must hold values of one kind") from error


def _coincidences(counts: Ints, sizes: Ints) -> Floats:
    """Ordered pairs of ratings inside units, each unit of m ratings weighted 1 / (m - 1)."""
    m = counts.sum(axis=1)
    weighted = counts * (sizes / np.maximum(m - 1, 1) * (m >= 2))[:, None]
    pairs = counts.T @ weighted
    pairs.flat[:: len(pairs) + 1] -= weighted.sum(axis=0)
    return np.asarray(pairs, dtype=np.float64)


def _positions(values: Sequence[Any], level: Level) -> Floats:
    if level in ("nominal", "ordinal"):
        return np.arange(len(values), dtype=np.float64)
    lowest = 0.0 if level == "ratio" else -np.inf
    return np.array([real("data", value, at_least=lowest) for value in values], dtype=np.float64)


def _alpha(coincidences: Floats, positions: Floats, level: Level) -> Number:
    if not coincidences.any():
        return Unavailable(NO_PAIRS)
    if np.count_nonzero(coincidences.sum(axis=0)) < 2:
        return Unavailable(ONE_VALUE)
    observed, expected, n = _disagreement(coincidences[None], positions, level)
    return float(1 - (n[0] - 1) * observed[0] / expected[0])


def _disagreement(pairs: Floats, positions: Floats, level: Level) -> tuple[Floats, Floats, Floats]:
    """Summed observed and expected disagreement and the number of pairable ratings, for each (values, values) layer."""
    used = pairs.sum(axis=2)
    if level == "ordinal":
        upto = np.cumsum(used, axis=1) - used / 2
        squares = (upto[:, :, None] - upto[:, None, :]) ** 2
    elif level == "nominal":
        squares = np.broadcast_to(1.0 - np.eye(len(positions)), pairs.shape)
    else:
        apart = positions[:, None] - positions[None, :]
        size = positions[:, None] + positions[None, :] if level == "ratio" else np.ones_like(apart)
        squares = np.broadcast_to((apart / np.where(size == 0, 1.0, size)) ** 2, pairs.shape)
    observed = (pairs * squares).sum(axis=(1, 2))
    expected = (used[:, :, None] * used[:, None, :] * squares).sum(axis=(1, 2))
    return observed, expected, used.sum(axis=1)
