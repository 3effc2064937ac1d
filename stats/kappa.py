"""Agreement of two raters beyond chance, with what must ride beside it (S1 "Calibration")."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from stats.checks import Ints, StatsInputError, count, open_labels, open_share, same_length, square_counts
from stats.distributions import two_sided_z
from stats.resampling import Percentiles, percentiles
from stats.unavailable import Number, Unavailable, ratio

UNINFORMATIVE = "p_e = 1: both raters used one and the same category; uninformative"
NO_ITEMS = "no item was rated by both"


@dataclass(frozen=True, slots=True)
class Kappa:
    """kappa with its large-sample interval; beside it raw agreement, both raters' marginals and per-class agreement.

    se: error under the observed kappa (Fleiss, Cohen & Everitt 1969); se0: under kappa = 0.
    class_agreement[k]: 2 n_kk / (r_k + c_k), the specific agreement of Cicchetti & Feinstein (1990).
    """

    n: int
    n_missing: int
    po: float
    pe: float
    row_share: tuple[float, ...]
    col_share: tuple[float, ...]
    class_agreement: tuple[Number, ...]
    kappa: Number
    se: Number
    se0: Number
    lo: Number
    hi: Number


def cohen_kappa(table: Sequence[Sequence[int]], *, conf: float = 0.95, n_missing: int = 0) -> Kappa | Unavailable:
    """table[i][j]: items that the first rater put in class i and the second in class j.

    Unavailable without items. When both used one and the same class p_e is 1: kappa is unavailable ("uninformative"),
    raw agreement and prevalence are still there. Decided on the cells, not on a float.

    >>> k = cohen_kappa([[88, 14, 18], [10, 40, 10], [2, 6, 12]])  # Cohen (1960)
    >>> round(k.kappa, 3), k.po, k.pe
    (0.492, 0.7, 0.41)
    """
    cells = square_counts("table", table)
    z = two_sided_z(conf)
    n = int(cells.sum())
    if n == 0:
        return Unavailable(NO_ITEMS)
    rows, cols = cells.sum(axis=1), cells.sum(axis=0)
    agreed, chance = int(np.trace(cells)), sum(int(r) * int(c) for r, c in zip(rows, cols, strict=True))
    kappa, se, se0 = _kappa(cells, n, agreed, chance)
    lo, hi = (kappa, kappa) if isinstance(kappa, Unavailable) else (kappa - z * _real(se), kappa + z * _real(se))
    return Kappa(
        n=n,
        n_missing=n_missing,
        po=agreed / n,
        pe=chance / (n * n),
        row_share=tuple(float(r) / n for r in rows),
        col_share=tuple(float(c) / n for c in cols),
        class_agreement=tuple(specific_agreement(table)),
        kappa=kappa,
        se=se,
        se0=se0,
        lo=lo,
        hi=hi,
    )


def cohen_kappa_labels(
    a: Sequence[Hashable], b: Sequence[Hashable], *, labels: Sequence[Hashable] | None = None, conf: float = 0.95
) -> Kappa | Unavailable:
    """The same from two columns of labels; items that either rater left out (None) are counted in ``n_missing``."""
    n = same_length(a=a, b=b)
    both = [(x, y) for x, y in zip(open_labels("a", a), open_labels("b", b), strict=True) if None not in (x, y)]
    classes = list(labels) if labels is not None else sorted({v for pair in both for v in pair}, key=str)
    position = {label: k for k, label in enumerate(classes)}
    table = [[0] * len(classes) for _ in classes]
    for x, y in both:
        for name, label in (("a", x), ("b", y)):
            if label not in position:
                raise StatsInputError(name, label, f"must hold only {', '.join(map(str, classes))}")
        table[position[x]][position[y]] += 1
    return cohen_kappa(table, conf=conf, n_missing=n - len(both)) if both else Unavailable(NO_ITEMS)


def specific_agreement(table: Sequence[Sequence[int]]) -> list[Number]:
    """Agreement on each class by itself, 2 n_kk / (r_k + c_k); unavailable for a class that nobody used.

    The remedy for the kappa paradox (Cicchetti & Feinstein 1990).

    >>> [round(v, 3) for v in specific_agreement([[80, 10], [5, 5]])]
    [0.914, 0.4]
    """
    cells = square_counts("table", table)
    used = cells.sum(axis=1) + cells.sum(axis=0)
    return [ratio(2 * int(cells[k, k]), int(used[k]), "nobody used this class") for k in range(len(cells))]


def kappa_bootstrap(
    table: Sequence[Sequence[int]], *, rng: np.random.Generator, n_boot: int = 2000, conf: float = 0.95
) -> Percentiles | Unavailable:
    """Percentile interval of kappa over resampled items; a degenerate resample is dropped and counted, never clamped.

    Unavailable when the observed table is itself degenerate. Source: S1 "Calibration".
    """
    cells = square_counts("table", table)
    n_boot, conf = count("n_boot", n_boot, at_least=1), open_share("conf", conf)
    n = int(cells.sum())
    if n == 0:
        return Unavailable(NO_ITEMS)
    if cells.max() == n and cells.argmax() % (len(cells) + 1) == 0:
        return Unavailable("the observed set is degenerate (p_e = 1): report it as uninformative")
    drawn = rng.multinomial(n, cells.ravel() / n, size=n_boot).reshape(n_boot, *cells.shape)
    agreed = np.trace(drawn, axis1=1, axis2=2)
    chance = (drawn.sum(axis=2) * drawn.sum(axis=1)).sum(axis=1)
    kept = chance != n * n
    values = (n * agreed[kept] - chance[kept]) / (n * n - chance[kept])
    return percentiles(values, n_boot, conf=conf)


def _kappa(cells: Ints, n: int, agreed: int, chance: int) -> tuple[Number, Number, Number]:
    if chance == n * n:
        nothing = Unavailable(UNINFORMATIVE)
        return nothing, nothing, nothing
    kappa = (n * agreed - chance) / (n * n - chance)
    p, pe = cells / n, chance / (n * n)
    row, col = p.sum(axis=1), p.sum(axis=0)
    diagonal = np.diag(p)
    on = float((diagonal * (1 - (row + col) * (1 - kappa)) ** 2).sum())
    crossed = (col[:, None] + row[None, :]) ** 2 * p
    off = float((1 - kappa) ** 2 * (crossed.sum() - np.trace(crossed)))
    variance = (on + off - (kappa - pe * (1 - kappa)) ** 2) / (n * (1 - pe) ** 2)
    variance0 = (pe + pe * pe - float((row * col * (row + col)).sum())) / (n * (1 - pe) ** 2)
    return kappa, math.sqrt(max(variance, 0.0)), math.sqrt(max(variance0, 0.0))


def _real(value: Number) -> float:
    assert not isinstance(value, Unavailable)
    return value
