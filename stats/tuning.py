"""Which band rule? Simulate weeks and read off false alarms and power for every width, inside-share and persistence.

The knobs interact (S2 6.4, 8.3): the share of resamples inside the band is not a p-value, and stacking a wide band, a
low share and two weeks leaves no power at all. Re-run this with your own raters and volumes before choosing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from stats.band import marks
from stats.band_theory import prob_run
from stats.checks import Floats, Ints, StatsInputError, count, real, share
from stats.panel import Pattern
from stats.unavailable import Number, Unavailable
from stats.verdicts import FAIL, PASS


@dataclass(frozen=True, slots=True)
class Setting:
    """How a week looks: items, share of human-standard fails, the raters' accuracies."""

    items: int = 300
    prevalence: float = 0.4
    rater_acc: tuple[float, ...] = (0.87, 0.87, 0.87)

    def __post_init__(self) -> None:
        count("items", self.items, at_least=1)
        share("prevalence", self.prevalence)
        for i, accuracy in enumerate(self.rater_acc):
            share(f"rater_acc[{i}]", accuracy)
        if len(self.rater_acc) < 3:
            raise StatsInputError("rater_acc", self.rater_acc, "must hold at least 3 raters")


@dataclass(frozen=True, slots=True)
class Rule:
    """Alarm when the margin is below 0 (``max_inside`` None) or fewer resamples than this are inside, in a row."""

    width: float
    max_inside: float | None = None
    consecutive: int = 1


@dataclass(frozen=True, slots=True)
class RuleOdds:
    """false_alarm: a judge as good as the raters, power: the worse one, within ``consecutive`` independent weeks."""

    rule: Rule
    false_alarm: float
    power: float
    n_weeks: int


def tune_band(
    rules: Sequence[Rule],
    *,
    rng: np.random.Generator,
    setting: Setting | None = None,
    judge_acc: float | None = None,
    worse_acc: float = 0.75,
    weeks: int = 2000,
    n_boot: int = 400,
) -> list[RuleOdds] | Unavailable:
    """Odds of every rule, leave-one-out Specificity; ``judge_acc`` defaults to the raters' mean accuracy.

    Monte Carlo error of a rate p is sqrt(p (1 - p) / weeks), 0.5 points at 5 % and 2,000 weeks.
    """
    setting = setting or Setting()
    equal = sum(setting.rater_acc) / len(setting.rater_acc) if judge_acc is None else share("judge_acc", judge_acc)
    n_weeks = count("weeks", weeks, at_least=1)
    good, worse = (_Weeks(setting, acc, n_weeks, rng) for acc in (equal, share("worse_acc", worse_acc)))
    odds: list[RuleOdds] = []
    for rule in rules:
        k = count("consecutive", rule.consecutive, at_least=1)
        rates = [weeks_.alarm_rate(rule.width, rule.max_inside, n_boot) for weeks_ in (good, worse)]
        if isinstance(rates[0], Unavailable) or isinstance(rates[1], Unavailable):
            return Unavailable("no simulated week had a band")
        odds.append(RuleOdds(rule, prob_run(rates[0], k, k), prob_run(rates[1], k, k), n_weeks))
    return odds


class _Weeks:
    """Simulated weeks as counts of the kinds of items that differ for the metric; the bootstrap runs once a week."""

    def __init__(self, setting: Setting, judge_acc: float, weeks: int, rng: np.random.Generator) -> None:
        chances, self.rows = _kinds(setting, judge_acc)
        self.raters = len(setting.rater_acc)
        self.counts: Ints = rng.multinomial(setting.items, chances, size=weeks)
        self.seed = int(rng.integers(2**63))
        self.items = setting.items
        self._inside: dict[tuple[float, int], Floats] = {}

    def alarm_rate(self, width: float, max_inside: float | None, n_boot: int) -> Number:
        width = real("width", width, at_least=0.0)
        if max_inside is None:
            margins = _margins(self.counts @ self.rows, self.raters, width)
            return _share(margins < -1e-12, np.isfinite(margins))
        key = (width, count("n_boot", n_boot, at_least=1))
        if key not in self._inside:
            self._inside[key] = self._share_inside(*key)
        inside = self._inside[key]
        return _share(inside < share("max_inside", max_inside), np.isfinite(inside))

    def _share_inside(self, width: float, n_boot: int) -> Floats:
        """Per week, the share of resamples inside the band; NaN where none had one."""
        rng, inside = np.random.default_rng(self.seed), np.full(len(self.counts), np.nan)
        for week, counts in enumerate(self.counts):
            drawn = rng.multinomial(self.items, counts / self.items, size=n_boot)
            margins = _margins(drawn @ self.rows, self.raters, width)
            valid = margins[np.isfinite(margins)]
            if len(valid):
                inside[week] = (valid >= -1e-12).mean()
        return inside


def _kinds(setting: Setting, judge_acc: float) -> tuple[Floats, Floats]:
    """Probability and contribution of every kind of item, the likeliest last."""
    merged: dict[tuple[float, ...], float] = {}
    accuracies = (judge_acc, *setting.rater_acc)
    for truth, prior in ((FAIL, setting.prevalence), (PASS, 1 - setting.prevalence)):
        for labels in product((FAIL, PASS), repeat=len(accuracies)):
            chance = prior
            for label, accuracy in zip(labels, accuracies, strict=True):
                chance *= accuracy if label == truth else 1 - accuracy
            row = tuple(
                float(m) for part in marks(Pattern("", 1.0, labels[0], labels[1:]), "specificity", True) for m in part
            )
            merged[row] = merged.get(row, 0.0) + chance
    ordered = sorted(merged.items(), key=lambda kind: (kind[1], kind[0]))
    chances = np.array([chance for _, chance in ordered])
    return chances / chances.sum(), np.array([row for row, _ in ordered])


def _margins(sums: Floats, raters: int, width: float) -> Floats:
    """Margins, NaN (inside this module only) where a reference has no fail."""
    total = sums[:, :raters].astype(np.float64)
    total[total == 0] = np.nan
    scores, judge = sums[:, raters : 2 * raters] / total, sums[:, 2 * raters :] / total
    return np.asarray(judge.mean(axis=1) - (scores.mean(axis=1) - width * scores.std(axis=1, ddof=1)))


def _share(hits: np.ndarray, defined: np.ndarray) -> Number:
    return float(hits[defined].mean()) if defined.any() else Unavailable("no simulated week had a band")
