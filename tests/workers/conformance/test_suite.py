from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stats.unavailable import Unavailable
from tests.workers.conformance.broken import ground
from workers.conformance import accuracy, anchor, closure, envelope
from workers.conformance.biases import Measurement
from workers.conformance.findings import Check, Finding, Result, failed, not_applicable, passed, unavailable
from workers.conformance.junit import junit
from workers.conformance.suite import CHECKS, Checked, Report, run_suite


def report(*found: tuple[Check, Finding]) -> Report:
    return Report([Checked(check, finding) for check, finding in found])


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ([(closure.CHECK, passed("."))], Result.PASS),
        ([(closure.CHECK, passed(".")), (accuracy.CHECK, unavailable("m = 0"))], Result.PASS),
        ([(closure.CHECK, not_applicable("."))], Result.PASS),
        ([(closure.CHECK, unavailable("."))], Result.FAIL),
        ([(closure.CHECK, failed("."))], Result.FAIL),
        ([], Result.FAIL),
    ],
)
def test_what_was_not_shown_to_hold_does_not_pass(found: list[tuple[Check, Finding]], verdict: Result) -> None:
    assert report(*found).verdict is verdict


def test_the_last_line_names_both_conditions_and_what_else_does_not_hold() -> None:
    whole = report((anchor.CHECK, passed(".")), (envelope.CHECK, failed(".")), (closure.CHECK, failed(".")))
    assert whole.sentence == (
        "FAIL: the required envelope check: FAIL; a human anchor and published agreement: PASS; "
        "not shown to hold: closure"
    )
    assert whole.conditions == {"anchor": "PASS", "envelope": "FAIL"}


def test_names_are_unique_and_every_row_of_s1_is_there() -> None:
    names = [check.name for check in CHECKS]
    assert len(set(names)) == len(names)
    rows = {"determinism", "closure", "permutation", "idempotence", "monotonicity", "injection", "accuracy", "budget"}
    assert rows | {"hidden_state", "fail_closed", "instruction", "coverage", "anchor", "envelope"} == set(names)


@pytest.mark.anyio
async def test_checks_are_run_in_turn_and_announced() -> None:
    begun: list[str] = []
    checked = await run_suite(ground(), [closure.CHECK, anchor.CHECK], begins=begun.append)
    assert begun == [one.check.name for one in checked] == ["closure", "anchor"]


def test_the_document_says_null_and_why_where_there_is_no_number() -> None:

    whole = Report(
        [Checked(closure.CHECK, passed("fine", rate=Unavailable("no pair")))],
        [Measurement("length", "x", Unavailable("y"))],
    )
    document = whole.document()
    assert document["verdict"] == "PASS"
    assert document["checks"][0]["evidence"] == {"rate": None, "rate_reason": "no pair"}
    assert document["measurements"] == [{"name": "length", "of": "x", "value": None, "value_reason": "y"}]


@given(st.text(max_size=40))
@settings(derandomize=True, max_examples=40)
def test_junit_xml_is_well_formed_whatever_is_told(told: str) -> None:
    whole = report((closure.CHECK, failed(told)), (accuracy.CHECK, unavailable(told)), (anchor.CHECK, passed(told)))
    suite = ET.fromstring(junit(whole))
    assert {name: suite.get(name) for name in ("tests", "failures", "skipped", "errors")} == {
        "tests": "3",
        "failures": "1",
        "skipped": "1",
        "errors": "0",
    }
    assert [(case.get("name"), [child.tag for child in case]) for case in suite] == [
        ("closure", ["failure"]),
        ("accuracy", ["skipped"]),
        ("anchor", []),
    ]
