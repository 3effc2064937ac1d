from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.workers.conformance.broken import ground
from workers.conformance import envelope
from workers.conformance.findings import Result

RECORDS = (
    {"outcome": "serve", "verdicts": [{"label": "pass"}]},
    {"outcome": "revise", "verdicts": [{"label": "fail"}]},
)

VALIDATORS: dict[str, Any] = {
    "yes": lambda record: True,
    "silent": lambda record: None,
    "no": lambda record: False,
    "list_of_defects": lambda record: ["something is missing"],
    "empty_list": lambda record: [],
    "needs_a_key": lambda record: record["no such key"] and None,
    "no_function": 7,
}


@pytest.fixture(autouse=True)
def validators(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("assay_test_validators")
    for name, function in VALIDATORS.items():
        setattr(module, name, function)
    monkeypatch.setitem(sys.modules, module.__name__, module)


async def result(spec: str | None, records: tuple[Mapping[str, Any], ...] = RECORDS) -> Result:
    return (await envelope.check(ground(envelope=spec, records=records))).result


def schema(folder: Path, document: object) -> str:
    path = folder / "envelope.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return str(path)


@pytest.mark.anyio
@pytest.mark.parametrize("function", sorted(VALIDATORS))
async def test_only_true_or_silence_of_a_function_is_a_pass(function: str) -> None:
    wanted = Result.PASS if function in ("yes", "silent") else Result.FAIL
    assert await result(f"assay_test_validators:{function}") is wanted


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("document", "wanted"),
    [
        ({"type": "object", "required": ["outcome"]}, Result.PASS),
        ({"type": "object", "required": ["nowhere"]}, Result.FAIL),
        ({"properties": {"outcome": {"const": "serve"}}}, Result.FAIL),  # holds for one record of the two
        (False, Result.FAIL),
        ({"type": "no such type"}, Result.FAIL),
        ("{ not json", Result.FAIL),
        ({"$ref": "https://example.org/elsewhere.json"}, Result.FAIL),  # nothing is fetched
    ],
)
async def test_a_json_schema_is_the_validator(tmp_path: Path, document: object, wanted: Result) -> None:
    assert await result(schema(tmp_path, document)) is wanted


@pytest.mark.anyio
@pytest.mark.parametrize("spec", [None, "no_such_file.json", "no_such_module:f", "json:no_such_name", ":", "json:"])
async def test_without_a_validator_it_fails(spec: str | None) -> None:
    assert await result(spec) is Result.FAIL


@pytest.mark.anyio
async def test_a_judge_that_replied_nothing_fails() -> None:
    assert await result("assay_test_validators:yes", ()) is Result.FAIL


@pytest.mark.anyio
async def test_nothing_of_the_envelope_is_told(tmp_path: Path) -> None:
    spec = schema(tmp_path, {"required": ["a_withheld_field"], "$comment": "a_withheld_remark"})
    finding = await envelope.check(ground(envelope=spec, records=RECORDS))
    assert finding.result is Result.FAIL
    assert "withheld" not in f"{finding.detail} {finding.evidence}"
