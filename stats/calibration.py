"""Does stated confidence match accuracy? Expected calibration error, and what chance alone shows (Guo 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stats.checks import Floats, count, flags, open_share, same_length, share
from stats.unavailable import Unavailable


@dataclass(frozen=True, slots=True)
class CalibrationError:
    """ece: mean |accuracy - confidence| over bins, weighted by items; mce: the worst bin; rmsce: root mean square.

    ece is biased upward (a perfect judge shows 0.05 at n = 300 and 15 bins): publish n, bins and ``ece_null`` with it.
    """

    ece: float
    mce: float
    rmsce: float
    n: int
    n_dropped: int
    bins_used: int


def ece(
    confidence: Sequence[float | None], correct: Sequence[bool], *, n_bins: int = 15
) -> CalibrationError | Unavailable:
    """Bins ((k-1)/M, k/M], confidence 0 in the first; items without a stated confidence are dropped and counted.

    Unavailable when no item has a confidence.

    >>> round(ece([0.25, 0.25, 0.55, 0.75, 0.75], [0, 0, 1, 1, 1], n_bins=2).ece, 2)
    0.29
    """
    same_length(confidence=confidence, correct=correct)
    n_bins = count("n_bins", n_bins, at_least=1)
    stated = [
        (share(f"confidence[{i}]", c), right)
        for i, (c, right) in enumerate(zip(confidence, correct, strict=True))
        if c is not None
    ]
    if not stated:
        return Unavailable("no item has a stated confidence")
    said, right = np.array([c for c, _ in stated]), flags("correct", [r for _, r in stated])
    place = _bins(said, n_bins)
    n = np.bincount(place, minlength=n_bins)
    gap = np.bincount(place, right - said, minlength=n_bins)
    used = n > 0
    apart = np.abs(gap[used]) / n[used]
    weight = n[used] / n.sum()
    return CalibrationError(
        float(weight @ apart),
        float(apart.max()),
        float(np.sqrt(weight @ apart**2)),
        len(said),
        len(confidence) - len(said),
        int(used.sum()),
    )


def ece_null(
    confidence: Sequence[float], *, rng: np.random.Generator, n_bins: int = 15, level: float = 0.95, n_sim: int = 2000
) -> float | Unavailable:
    """The ECE that a perfectly calibrated judge with these confidences stays under with probability ``level``.

    Alert only above it: at n = 300 and 15 bins it is about 0.075.
    """
    said = np.array([share(f"confidence[{i}]", c) for i, c in enumerate(confidence)])
    n_bins, n_sim = count("n_bins", n_bins, at_least=1), count("n_sim", n_sim, at_least=1)
    level = open_share("level", level)
    if len(said) == 0:
        return Unavailable("no item has a stated confidence")
    place = _bins(said, n_bins)
    in_bin = np.zeros((len(said), n_bins))
    in_bin[np.arange(len(said)), place] = 1.0
    right = rng.random((n_sim, len(said))) < said
    errors = np.abs((right - said) @ in_bin).sum(axis=1) / len(said)
    return float(np.sort(errors)[min(int(level * n_sim), n_sim - 1)])


def _bins(said: Floats, n_bins: int) -> np.ndarray:
    # Edges as quotients: 3 * 0.1 is above 0.3 and would put 0.3 into the wrong bin.
    return np.searchsorted(np.arange(1, n_bins + 1) / n_bins, said, side="left")
