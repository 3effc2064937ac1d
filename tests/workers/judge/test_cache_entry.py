from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.verdict_space import Cause, Flag, Label
from schemas.verdicts import CriterionVerdict, Served, Usage
from workers.judge.cache_entry import claim_key, free_of_charge, read_entry, verdict_key, write_entry

FIRST = CriterionVerdict(
    criterion_id="grounding",
    label=Label.FAIL,
    reason="The display is 6.1 inches.",
    evidence_spans=("6.7 inch", "naïve “quotes” 😀"),
    guideline_clause="G-1",
    judge="judge-1",
    flags=(Flag.UNVERIFIED_SPAN,),
    usage=Usage(calls=2, input_tokens=120, output_tokens=30, cost_usd=0.01, latency_ms=812.5),
    served=Served(model="judge-1", finish_reason="stop", content_chars=99),
)

# An entry as version 1 writes it. When this can no longer be read, the version must be raised.
GOLDEN = (
    b'1 {"criterion_id":"grounding","label":"pass","cause":null,"detail":null,"reason":null,"evidence_spans":[],'
    b'"guideline_clause":null,"judge":"judge-1","provisional":true,"cached":true,"flags":[],"usage":{"calls":0,'
    b'"input_tokens":0,"output_tokens":0,"cost_usd":0.0,"latency_ms":0.0},"served":null,"score":null,'
    b'"preference":null,"votes":[]}'
)
BEFORE_FORMS = GOLDEN.replace(b',"score":null,"preference":null,"votes":[]', b"")


def test_a_hit_equals_the_first_verdict_but_for_what_it_cost() -> None:
    hit = read_entry(write_entry(FIRST), criterion_id="grounding")
    assert hit is not None
    assert hit.cached
    assert (hit.usage.calls, hit.usage.cost_usd, hit.usage.input_tokens) == (0, 0.0, 0)
    assert hit.model_copy(update={"cached": False, "usage": FIRST.usage}) == FIRST


def test_entries_of_this_version_stay_readable() -> None:
    entry = read_entry(GOLDEN, criterion_id="grounding")
    assert entry is not None
    assert write_entry(entry) == GOLDEN
    assert read_entry(BEFORE_FORMS, criterion_id="grounding") == entry


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"1 ",
        GOLDEN[:-1],
        GOLDEN[:40],
        GOLDEN[2:],
        b"2 " + GOLDEN[2:],
        GOLDEN.replace(b'"pass"', b'"abstain"').replace(b'"cause":null', b'"cause":"timeout"'),
        GOLDEN.replace(b'"pass"', b'"PASS"'),
        GOLDEN.replace(b"grounding", b"tone"),
        GOLDEN.replace(b'"cached":true', b'"cached":false'),
        b"1 null",
        b"1 " + b"[" * 100_000,
        b"\xff\xfe\x00",
    ],
)
def test_what_is_no_entry_is_a_miss(raw: bytes) -> None:
    assert read_entry(raw, criterion_id="grounding") is None


@settings(derandomize=True, max_examples=300)
@given(st.binary(max_size=200), st.integers(0, len(GOLDEN)))
def test_reading_is_total(noise: bytes, at: int) -> None:
    read_entry(noise, criterion_id="grounding")
    read_entry(GOLDEN[:at] + noise + GOLDEN[at + 1 :], criterion_id="grounding")


@pytest.mark.parametrize("label", [label for label in Label if not label.decided])
def test_a_non_decision_is_never_written(label: Label) -> None:
    verdict = CriterionVerdict(criterion_id="grounding", label=label, cause=Cause.TIMEOUT, judge="judge-1")
    with pytest.raises(ValueError, match="no decision"):
        write_entry(verdict)
    assert not free_of_charge(verdict).cached


def test_everything_that_can_change_a_verdict_is_in_its_name() -> None:
    key = verdict_key("ab" * 32, "bom-1", "grounding")
    assert key == "assay:v1:verdict:{" + "ab" * 32 + ":bom-1:grounding}"
    assert claim_key(key) == "assay:v1:claim:{" + "ab" * 32 + ":bom-1:grounding}"
