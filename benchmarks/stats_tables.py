"""Prints the tables of docs/statistics.md: the simulations behind the defaults, seeded, about a minute.

python -m benchmarks.stats_tables [WEEKS]
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import numpy as np

from stats.band_theory import band_false_alarm, band_width, multiplicity, prob_run
from stats.calibration import CalibrationError, ece, ece_null
from stats.persistence import cusum_arl
from stats.ppi import PpiSums, ppi_from_sums
from stats.proportions import Proportion, wilson
from stats.sequences import bernoulli_confidence_sequence
from stats.served import served_defect_rate
from stats.tuning import Rule, RuleOdds, Setting, tune_band
from stats.unavailable import Unavailable

WEEKS = int(sys.argv[1]) if len(sys.argv) > 1 else 2000


def main() -> None:
    rules()
    settings()
    panels()
    persistence()
    cusum()
    peeking()
    rare_defects()
    calibration()


def rules() -> None:
    menu = [Rule(w, share, k) for w in (2.0, 2.5, 3.37) for share in (None, 0.5, 0.2) for k in (1, 2)]
    rows = tuned(menu, Setting(), seed=1)
    table(
        "rule by rule",
        ("width", "alarm when", "weeks in a row", "false alarm", "catches a 0.75 judge"),
        map(cells, rows),
    )


def settings() -> None:
    menu = [Rule(2.0), Rule(3.37), Rule(2.0, 0.5)]
    shown = []
    for name, setting in (
        ("as above", Setting()),
        ("raters 0.80, 0.87, 0.94", Setting(rater_acc=(0.80, 0.87, 0.94))),
        ("10 % fails", Setting(prevalence=0.1)),
        ("100 items", Setting(items=100)),
        ("1,000 items", Setting(items=1000)),
    ):
        shown += [(name, *cells(row)[:2], *cells(row)[3:]) for row in tuned(menu, setting, seed=2)]
    table("other weeks", ("week", "width", "alarm when", "false alarm", "catches a 0.75 judge"), shown)


def panels() -> None:
    shown = []
    for raters in (3, 4, 5, 7):
        width = band_width(0.05, raters)
        assert not isinstance(width, Unavailable)
        (row,) = tuned([Rule(width)], Setting(rater_acc=(0.87,) * raters), seed=3)
        shown.append((raters, f"{width:.2f}", percent(band_false_alarm(2.0, raters)), *cells(row)[3:]))
    heads = ("raters", "width for 5 %", "theory: false alarms at 2 sd", "false alarm", "catches a 0.75 judge")
    table("more raters", heads, shown)


def persistence() -> None:
    shown = []
    for p in (0.128, 0.05, 0.043):
        twice = prob_run(p, 2, 2)
        shown.append((percent(p), percent(twice), percent(multiplicity(p)), percent(multiplicity(twice))))
    heads = ("one check", "two weeks in a row", "any of 18 checks, one week", "any of 18, two weeks in a row")
    table("false alarms of the whole board, if checks were independent", heads, shown)


def cusum() -> None:
    shown = [
        (h, *(f"{arl:,.1f}" if (arl := cusum_arl(0.5, h, shift=shift)) else "" for shift in (0.0, 0.5, 1.0, 2.0)))
        for h in (3.0, 4.0, 5.0)
    ]
    heads = ("h", "no shift", "0.5 sigma", "1 sigma", "2 sigma")
    table("weeks until a lower CUSUM with k = 0.5 alarms", heads, shown)


def peeking() -> None:
    rng, truth, shown = np.random.default_rng(4), 1 / 51, []
    bad = np.cumsum(rng.binomial(100, truth, size=(WEEKS, 52)), axis=1)
    for looks in (1, 4, 13, 52):
        wrong = {
            name: np.mean([any(decided(bound, run, k, truth) for k in range(looks)) for run in bad[:, :looks]])
            for name, bound in (("wilson", wilson), ("sequence", bernoulli_confidence_sequence))
        }
        shown.append((looks, percent(wrong["wilson"]), percent(wrong["sequence"])))
    table("a step exactly at break-even, wrongly 'lower'", ("weekly looks", "Wilson", "confidence sequence"), shown)


def decided(bound: object, run: np.ndarray, k: int, truth: float) -> bool:
    assert callable(bound)
    interval = bound(int(run[k]), 100 * (k + 1))
    return isinstance(interval, Proportion) and interval.lo > truth


def rare_defects() -> None:
    rng, shown = np.random.default_rng(5), []
    for p in (0.01, 0.05):
        for n in (100, 300, 1000):
            shown.append((percent(p), n, *covered(rng, p, n)))
    heads = ("defects", "labels", "PPI", "PPI++", "Wilson on the labels", "served_defect_rate")
    table("coverage of 95 % intervals, audit judge Spec 0.8 / Rec 0.97, 20,000 served", heads, shown)


def covered(rng: np.random.Generator, p: float, n: int) -> list[str]:
    hits = np.zeros(4)
    for _ in range(WEEKS):
        bad = rng.random(n) < p
        flagged = np.where(bad, rng.random(n) < 0.8, rng.random(n) < 0.03)
        y, f, both = int(bad.sum()), int(flagged.sum()), int((bad & flagged).sum())
        rest = int(rng.binomial(20_000 - n, p * 0.8 + (1 - p) * 0.03))
        sums = PpiSums(n, y, y, f, f, both, 20_000 - n, rest, rest)
        found = [
            ppi_from_sums(sums, ddof=1),
            ppi_from_sums(sums, lam=None, ddof=1),
            wilson(y, n),
            served_defect_rate(sums),
        ]
        hits += [holds(interval, p) for interval in found]
    return [percent(share) for share in hits / WEEKS]


def holds(interval: object, p: float) -> bool:
    """An interval that does not exist covers nothing."""
    lo, hi = getattr(interval, "lo", None), getattr(interval, "hi", None)
    return isinstance(lo, float) and isinstance(hi, float) and lo <= p <= hi


def calibration() -> None:
    rng, shown = np.random.default_rng(6), []
    for n in (50, 150, 300, 1000, 10_000):
        said = rng.uniform(0.5, 1.0, n)
        null = ece_null(said.tolist(), rng=rng, n_sim=1000)
        found = [ece(said.tolist(), (rng.random(n) < said).tolist()) for _ in range(60)]
        mean = np.mean([error.ece for error in found if isinstance(error, CalibrationError)])
        shown.append((f"{n:,}", f"{mean:.3f}", f"{null:.3f}"))
    table("ECE of a perfectly calibrated judge, 15 bins", ("n", "mean", "95 % point"), shown)


def tuned(menu: list[Rule], setting: Setting, *, seed: int) -> list[RuleOdds]:
    found = tune_band(menu, rng=np.random.default_rng(seed), setting=setting, weeks=WEEKS)
    assert isinstance(found, list)
    return found


def cells(row: RuleOdds) -> tuple[str, ...]:
    share = row.rule.max_inside
    when = "margin < 0" if share is None else f"under {share:.0%} of resamples inside"
    return f"{row.rule.width:.2f}", when, str(row.rule.consecutive), percent(row.false_alarm), percent(row.power)


def percent(value: object) -> str:
    return f"{100 * float(value):.1f} %" if isinstance(value, (int, float)) else "-"


def table(title: str, heads: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    heads = list(heads)
    print(f"\n### {title}\n")
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


if __name__ == "__main__":
    main()
