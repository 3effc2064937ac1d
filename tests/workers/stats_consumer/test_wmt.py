"""Real translations and raters, replayed as weeks: figures as documented, a rotating panel, a worse system."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from typing import Any

import pytest

from schemas.message import Message
from schemas.reports import Figure
from stats.panel import majority
from stats.verdicts import FAIL, PASS
from tests.data import data_rows
from tests.workers.stats_consumer.said import BOM, MONDAY, attempt, decided, in_week, sampled, vote
from tests.workers.stats_consumer.simulated import EXAMPLE, add, fired, outcomes, said
from workers.stats_consumer.assurance import Assurance
from workers.stats_consumer.fold import Fold
from workers.stats_consumer.week import weeks_of
from workers.stats_consumer.weeks import pane_of

SPEC = REC = 0.90


def rows() -> list[dict[str, Any]]:
    return data_rows("wmt23_zhen_mqm.jsonl")


def system(row: dict[str, Any]) -> str:
    return str(row["meta"]["generator"])


def gold(row: dict[str, Any]) -> str:
    said = majority(rater["label"] for rater in row["raters"])
    assert said is not None
    return said


def shares() -> dict[str, float]:
    fails, items = Counter[str](), Counter[str]()
    for row in rows():
        items[system(row)] += 1
        fails[system(row)] += gold(row) == FAIL
    return {name: fails[name] / items[name] for name in items}


@cache
def replayed(weeks: tuple[str, ...]) -> Fold:
    """Each week one system's translations; the judge is the majority's label with seeded errors."""
    fold, rng = Fold(), random.Random(23)
    for number, name in enumerate(weeks):
        add(fold, [m for row in rows() if system(row) == name for m in messages(row, number, rng)])
    return fold


def messages(row: dict[str, Any], number: int, rng: random.Random) -> list[Message]:
    item, truth = f"{row['item_id']}-{number}", gold(row)
    label = said(truth, SPEC if truth == FAIL else REC, rng)
    stratum = "served_first_pass" if label == PASS else "dropped"
    at = in_week(number)
    return [
        attempt(item, 0, {"c1": label}, outcome="serve" if label == PASS else "drop", at=at, generator=system(row)),
        decided(item, stratum, at=at, generator=system(row)),
        sampled(item, {"c1": label}, week=number, stratum=stratum),
        *(vote(item, rater["rater_id"], rater["label"], at=in_week(number + 1)) for rater in row["raters"]),
    ]


def everything() -> Fold:
    """All three systems in one week."""
    fold, rng = Fold(), random.Random(23)
    add(fold, [m for row in rows() for m in messages(row, 0, rng)])
    return fold


def figures(fold: Fold) -> dict[tuple[str, str], Figure]:
    read = Assurance(EXAMPLE).figures(weeks_of(fold.cells)[BOM], pane_of(MONDAY))
    return {(f.name, ",".join(sorted(f.scope.values()))): f for f in read}


def test_agreement_of_the_raters_is_as_documented() -> None:
    """425 fail / 706 pass, raw agreement 0.733, Fleiss 0.440, alpha 0.440 (the data's own README)."""
    read = figures(everything())
    assert read["raw_agreement", "c1"].value == pytest.approx(0.733, abs=5e-4)
    assert read["fleiss_kappa", "c1"].value == pytest.approx(0.440, abs=5e-4)
    assert read["krippendorff_alpha", "c1"].value == pytest.approx(0.440, abs=5e-4)
    assert (read["specificity", "all,c1"].n, read["recall", "all,c1"].n) == (425, 706)


def test_the_judges_seeded_errors_are_found() -> None:
    read = figures(everything())
    for name in ("specificity", "recall"):
        figure = read[name, "all,c1"]
        assert (figure.lo or 1.0) < 0.90 < (figure.hi or 0.0)


def test_a_rotating_panel_has_no_band_and_still_its_leave_one_out_agreement() -> None:
    read = figures(everything())
    margin = read["band_margin", "all,c1,specificity"]
    assert margin.value is None
    assert margin.reason is not None
    assert margin.reason.startswith("rotating panel: 8 raters, at most 3 an item")
    alone = [figure for (name, _), figure in read.items() if name == "agreement_with_the_others"]
    assert len(alone) == 8
    assert all(figure.value is not None for figure in alone)
    assert read["agreement_leave_one_out", "c1"].value is not None


def test_the_worst_system_is_a_generator_regression_and_no_fault_of_the_judge() -> None:
    known = shares()
    assert sorted(round(share, 3) for share in known.values()) == [0.239, 0.318, 0.570]
    best, _, worst = sorted(known, key=lambda name: known[name])
    healthy = fired(outcomes(replayed((best, best, best)), now=in_week(3)))
    switched = fired(outcomes(replayed((best, best, worst)), now=in_week(3)))
    assert "generator_regression" in switched
    judge_kinds = {"stricter_judge", "lenient_judge", "cancelling_changes", "below_band", "vendor_change"}
    assert not judge_kinds & (switched | healthy)
    assert "generator_regression" not in healthy
