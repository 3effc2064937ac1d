"""The published figures of real judged data, recomputed from the files (never committed; ``ASSAY_DATA`` names them).

Sources of the expected values: the data's own README and the papers behind it (Quintd, WMT23 MQM, PRD / Vicuna80).
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stats.agreement import fleiss_kappa, retest_agreement
from stats.alignment import Alignment, alignment
from stats.alpha import AlphaState, alpha_bootstrap, krippendorff_alpha
from stats.alt_test import AltTest, alt_test
from stats.biases import OrderPairs, position_flip
from stats.kappa import cohen_kappa_labels
from stats.panel import majority
from stats.resampling import Percentiles
from stats.unavailable import Unavailable

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("ASSAY_DATA", ROOT.parent / "shared" / "data"))

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def rows() -> Callable[[str], Rows]:
    if not DATA.is_dir():
        reason = f"no real data at {DATA}: set ASSAY_DATA to the folder that holds the .jsonl files"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return lambda name: [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text().splitlines()]


def reference(row: dict[str, Any]) -> str | None:
    return majority(rater["label"] for rater in row["raters"])


def against_people(rows: Rows, model: str) -> Alignment:
    said = [next((j["label"] for j in row["judges"] if j["model"] == model), None) or "abstain" for row in rows]
    return alignment(said, [reference(row) for row in rows])


def by_rater(rows: Rows) -> list[list[str | None]]:
    """The data as (raters, units), as reliability data are written down."""
    raters = sorted({r["rater_id"] for row in rows for r in row["raters"]})
    said = [{r["rater_id"]: r["label"] for r in row["raters"]} for row in rows]
    return [[labels.get(rater) for labels in said] for rater in raters]


@pytest.mark.parametrize(("model", "caught", "kept"), [("gpt-4-1106-preview", 101, 54), ("gpt-3.5", 104, 13)])
def test_spec_and_rec_of_two_judges_on_product_descriptions(rows, model, caught, kept):
    found = against_people(rows("quintd_gsmarena"), model)
    assert (found.n_fail, found.n_pass) == (107, 290)
    assert (found.confusion.fail_caught, found.confusion.pass_kept) == (caught, kept)
    assert found.spec == pytest.approx(caught / 107)
    assert found.rec == pytest.approx(kept / 290)


def test_raw_agreement_of_the_doubly_annotated_descriptions(rows):
    pairs = [[r["label"] for r in row["raters"]] for row in rows("quintd_gsmarena") if len(row["raters"]) == 2]
    table = cohen_kappa_labels(*zip(*pairs, strict=True))
    assert not isinstance(table, Unavailable)
    assert table.n == 16
    assert table.po == pytest.approx(0.812, abs=0.0006)


def test_agreement_of_professional_translators_raters(rows):
    data = rows("wmt23_zhen_mqm")
    counts = [[sum(r["label"] == label for r in row["raters"]) for label in ("fail", "pass")] for row in data]
    kappa = fleiss_kappa(counts)
    assert not isinstance(kappa, Unavailable)
    assert Counter(reference(row) for row in data) == {"fail": 425, "pass": 706}
    assert kappa.po == pytest.approx(0.733, abs=0.0005)
    assert kappa.kappa == pytest.approx(0.440, abs=0.0005)
    assert krippendorff_alpha(by_rater(data)) == pytest.approx(0.440, abs=0.0005)


def test_streaming_alpha_of_the_translations_is_the_batch_alpha(rows):
    data, state = rows("wmt23_zhen_mqm"), AlphaState(("fail", "pass"))
    for row in reversed(data):
        state.add([sum(r["label"] == label for r in row["raters"]) for label in ("fail", "pass")])
    assert state.alpha() == pytest.approx(krippendorff_alpha(by_rater(data)), abs=1e-12)


def test_the_alpha_interval_of_the_translations_holds_the_estimate_and_fails_the_usual_bar(rows):
    interval = alpha_bootstrap(by_rater(rows("wmt23_zhen_mqm")), rng=np.random.default_rng(7))
    assert isinstance(interval, Percentiles)
    assert interval.lo < 0.440 < interval.hi < 0.667  # S2 7.4: below even the tentative limit
    assert interval.n_dropped == 0


def test_the_majority_fail_share_of_three_translation_systems(rows):
    systems: dict[str, list[bool]] = {}
    for row in rows("wmt23_zhen_mqm"):
        systems.setdefault(row["meta"]["generator"], []).append(reference(row) == "fail")
    shares = sorted(sum(fails) / len(fails) for fails in systems.values())
    assert shares == pytest.approx([0.239, 0.318, 0.570], abs=0.0006)


@pytest.mark.parametrize(
    ("model", "reversals"),
    [("gpt-4", 0.144), ("gpt-3.5-turbo", 0.084), ("claude", 0.310), ("bard", 0.593), ("vicuna-13b", 0.593)],
)
def test_outright_reversals_when_the_order_is_swapped(rows, model, reversals):
    assert flips(rows, model).reversal_rate == pytest.approx(reversals, abs=0.0006)


def test_any_change_ties_included_is_a_flip(rows):
    assert flips(rows, "vicuna-13b").flip_rate == pytest.approx(0.626, abs=0.0006)


def flips(rows, model):
    """The files are in candidate terms, already mapped back."""
    judges = [j for row in rows("pairwise_vicuna80") for j in row["judges"] if j["model"] == model]
    return position_flip(OrderPairs.from_candidates([(j["AB"].upper(), j["BA"].upper()) for j in judges]))


def test_about_half_of_the_right_verdicts_on_summaries_have_a_wrong_reason(rows):
    # the whole annotation has 53 %; these rows are a part of it
    judged = [j for row in rows("metajudge_factcc_reasons") for j in row["judges"]]
    wrong = [j["reason_agrees"] in ("mismatch", "no_reason") for j in judged]
    found = alignment(["fail"] * len(judged), ["fail"] * len(judged), reason_agrees=[not w for w in wrong])
    assert found.spec == 1.0
    assert 1 - found.ra_neg == pytest.approx(0.53, abs=0.02)


def test_a_judge_at_temperature_zero_repeats_itself_more_often_than_at_one(rows):
    def pairwise(model: str) -> float:
        runs = [run for row in rows("repeat_rb2_k8") for j in row["judges"] if j["model"] == model for run in j["runs"]]
        found = retest_agreement([[score for score in run if score is not None] for run in runs])
        assert not isinstance(found, Unavailable)
        return found.pairwise

    assert pairwise("gpt-5.4@t0.0") > pairwise("gpt-5.4@t1.0")


def test_no_judge_may_replace_the_experts_on_stories_for_free(rows):
    data = rows("ttcw_criteria01_07")
    humans: dict[str, dict[str, str]] = {}
    for row in data:
        for rater in row["raters"]:
            humans.setdefault(rater["rater_id"], {})[row["item_id"]] = rater["label"]
    judge = {row["item_id"]: next(j["label"] for j in row["judges"] if j["model"] == "gpt4") for row in data}
    found = alt_test(judge, humans, epsilon=0.0)
    assert isinstance(found, AltTest)
    assert not found.passes
    assert set(found.raters) | set(found.skipped) == set(humans)
