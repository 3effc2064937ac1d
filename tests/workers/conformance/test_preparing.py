"""The ground that a BOM gives: its judge bare and over a script, its anchor, its records."""

from __future__ import annotations

import random
import time
from dataclasses import replace

import pytest

from schemas.bom import Bom
from schemas.verdict_space import Cause, Label
from workers.bom import load_bom, read_files
from workers.bom.example import example_bom
from workers.conformance.inputs import sample_drafts
from workers.conformance.judging import Run, asked_criteria, run
from workers.conformance.preparing import Options, Scripting, anchor_of, prepare
from workers.conformance.suffixes import own_suffixes
from workers.conformance.suite import CHECKS, Report, run_suite
from workers.judge.build import Surroundings
from workers.judge.protocols import NoCounters
from workers.judge.providers.scripted import Answer

pytestmark = pytest.mark.anyio

BOM = load_bom(read_files(example_bom()))
AROUND = Surroundings(clock=time.monotonic, rng=random.Random(1), counters=NoCounters(), prices={})
ANCHOR = """
guideline_version: 2026.11.1
criteria:
  c1_spec_accuracy: &one
    gold_items: 240
    raters: {raw: 0.92, kappa: 0.71, prevalence: 0.2}
    judge: {raw: 0.9, kappa: 0.66, prevalence: 0.2}
  c2_no_prohibited_claims: *one
"""


def anchored(text: str) -> Bom:
    return replace(BOM, files={**BOM.files, "anchor.yaml": text.encode()})


async def test_the_judge_over_a_script_is_the_bom_s_own_but_for_what_its_models_say() -> None:
    draft = sample_drafts()[0]
    plain: Run = await run(Scripting(BOM, AROUND)(Answer(reply={"label": "pass", "reason": "Fine."})), draft)
    down: Run = await run(Scripting(BOM, AROUND)(Answer(error=Cause.UNREACHABLE)), draft)
    assert set(plain.labels.values()) == {"pass"}
    assert {verdict.criterion_id: verdict.cause for verdict in down.verdicts} == {
        "c1_spec_accuracy": Cause.UNREACHABLE,
        "c2_no_prohibited_claims": Cause.UNREACHABLE,
        "c3_names_the_product": None,  # rules alone
    }


async def test_sample_drafts_hold_what_a_rule_finds_and_what_only_a_model_finds() -> None:
    ground = await prepare(BOM, AROUND, sample_drafts(), Options(), cache=None)
    failed = {run.draft.item_id: {v.judge for v in run.verdicts if v.label is Label.FAIL} for run in ground.baseline}
    assert not failed["sound-lantern"]
    assert not failed["sound-bowl"]
    assert all(judge.startswith("rule:") for judge in failed["faulty-figures"])
    assert failed["faulty-parcel"] == {"scripted-judge@2026-11-01"}
    assert asked_criteria(ground.baseline[0]) == {"c1_spec_accuracy", "c2_no_prohibited_claims"}


async def test_the_records_are_the_verdicts_of_the_baseline_as_the_worker_publishes_them() -> None:
    ground = await prepare(BOM, AROUND, sample_drafts(), Options(), cache=None)
    assert [record["item_id"] for record in ground.records] == [run.draft.item_id for run in ground.baseline]
    assert {record["outcome"] for record in ground.records} == {"serve", "revise"}
    assert all(record["bom_version"] == BOM.version for record in ground.records)


async def test_an_anchor_is_read_from_the_bom_and_a_broken_one_is_none() -> None:
    needed = {"c1_spec_accuracy", "c2_no_prohibited_claims"}
    assert anchor_of(BOM) == (None, needed, "2026.11.1", None)
    found = anchor_of(anchored(ANCHOR))
    assert found.anchor is not None
    assert found.anchor.criteria["c1_spec_accuracy"].raters.kappa == 0.71
    broken = anchor_of(anchored(ANCHOR.replace("kappa: 0.71, ", "")))
    assert broken.anchor is None
    assert "raters.kappa" in (broken.problem or "")


async def test_a_judge_with_anchor_and_envelope_conforms() -> None:
    """The scripted example, given what S1 asks of its surroundings: everything holds but what needs a cache."""
    options = Options(
        envelope="builtins:callable", suffixes=own_suffixes()[:9], at_once=50
    )  # callable(record) is False: refused
    bom = anchored(ANCHOR)
    checks = [check for check in CHECKS if check.name not in ("idempotence", "closure", "envelope")]
    ground = await prepare(bom, AROUND, sample_drafts(), options, cache=None)
    report = Report(await run_suite(ground, checks))
    assert report.verdict == "PASS", report.sentence
    assert report.conditions == {"anchor": "PASS"}
    envelope = [check for check in CHECKS if check.name == "envelope"]  # callable(record) is False: refused
    assert Report(await run_suite(ground, envelope)).verdict == "FAIL"
