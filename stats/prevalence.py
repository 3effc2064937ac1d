"""How many drafts are really bad, when all one has is a judge that is wrong sometimes (S2 2.4, 6.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stats.checks import count, open_share, share, successes
from stats.resampling import Percentiles, percentiles
from stats.unavailable import Number, Unavailable, ratio

BLIND = "Spec + Rec - 1 <= 0: the judge does not tell bad from good"


def posterior_defect_share(prior: float, spec: float, rec: float) -> Number:
    """Share of defects among what passes one judgment, from the share among what comes in.

    p (1 - Spec) / (p (1 - Spec) + (1 - p) Rec). Unavailable when nothing passes. Source: S2 2.4.

    >>> [round(posterior_defect_share(p, 0.9, 0.8), 3) for p in (0.10, 0.68)]
    [0.014, 0.21]
    """
    prior, spec, rec = share("prior", prior), share("spec", spec), share("rec", rec)
    bad = prior * (1 - spec)
    return ratio(bad, bad + (1 - prior) * rec, "nothing passes")


@dataclass(frozen=True, slots=True)
class RoganGladen:
    """estimate: the defect share, clipped to [0, 1] for display; raw is what a time series should keep.

    youden = Spec + Rec - 1: the smaller, the less the estimate is worth.
    """

    estimate: float
    raw: float
    clipped: bool
    youden: float
    se: Number


def rogan_gladen(
    reject_rate: float,
    spec: float,
    rec: float,
    *,
    clip: bool = True,
    n: int | None = None,
    n_fail: int | None = None,
    n_pass: int | None = None,
) -> RoganGladen | Unavailable:
    """The true defect share of first drafts from the share that the judge rejects.

    (reject_rate - (1 - Rec)) / (Spec + Rec - 1). Use first drafts only, and rates of one level (per criterion, or of
    the gate). n, n_fail, n_pass: drafts behind the three rates; without them there is no standard error. Unavailable
    when Spec + Rec <= 1; the error blows up near it. Source: Rogan & Gladen (1978), S2 6.3.

    >>> round(rogan_gladen(0.676, 0.9, 0.8).estimate, 2)
    0.68
    """
    q, spec, rec = share("reject_rate", reject_rate), share("spec", spec), share("rec", rec)
    youden = spec + rec - 1
    if youden <= 1e-12:
        return Unavailable(BLIND)
    raw = (q - (1 - rec)) / youden
    estimate = min(max(raw, 0.0), 1.0) if clip else raw
    se = _standard_error(q, spec, rec, raw, n, n_fail, n_pass)
    return RoganGladen(estimate, raw, estimate != raw, youden, se if isinstance(se, Unavailable) else se / youden)


def rogan_gladen_interval(
    *,
    rejected: int,
    n: int,
    caught: int,
    n_fail: int,
    kept: int,
    n_pass: int,
    rng: np.random.Generator,
    n_boot: int = 4000,
    conf: float = 0.95,
) -> Percentiles | Unavailable:
    """An interval that redraws both samples: the week's drafts (rejected of n) and those labelled for Spec and Rec.

    Each rate is redrawn from what its count leaves open, Beta(x + 1/2, m - x + 1/2), so a Spec of 20/20 is not taken
    for certain. Draws with Spec + Rec <= 1 are dropped and counted. The result is clipped to [0, 1]. Unavailable when
    a sample is empty.
    """
    pairs = {"rejected": (rejected, n), "caught": (caught, n_fail), "kept": (kept, n_pass)}
    totals = {name: count(f"the total of {name}", m) for name, (_, m) in pairs.items()}
    hits = {name: successes(name, x, totals[name]) for name, (x, _) in pairs.items()}
    n_boot, conf = count("n_boot", n_boot, at_least=1), open_share("conf", conf)
    for name, total in totals.items():
        if total == 0:
            return Unavailable(f"no draft to estimate {name} from")
    q, spec, rec = (
        rng.beta(hits[name] + 0.5, totals[name] - hits[name] + 0.5, n_boot) for name in ("rejected", "caught", "kept")
    )
    youden = spec + rec - 1
    kept_draws = youden > 0
    estimates = (q - (1 - rec))[kept_draws] / youden[kept_draws]
    return percentiles(np.clip(estimates, 0.0, 1.0), n_boot, conf=conf)


def _standard_error(
    q: float, spec: float, rec: float, raw: float, n: int | None, n_fail: int | None, n_pass: int | None
) -> Number:
    if n is None or n_fail is None or n_pass is None:
        return Unavailable("the sizes of the three samples are not given")
    if 0 in (count("n", n), count("n_fail", n_fail), count("n_pass", n_pass)):
        return Unavailable("one of the three samples is empty")
    return math.sqrt(q * (1 - q) / n + raw**2 * spec * (1 - spec) / n_fail + (1 - raw) ** 2 * rec * (1 - rec) / n_pass)
