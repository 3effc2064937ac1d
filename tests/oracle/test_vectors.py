"""Every vector of the file through one adapter. ``ASSAY_VECTORS`` names another file of the same form.

Sources stand in each vector: the seeds' printed numbers (with their rounding as tolerance), published examples,
libraries, and edges where the right answer is no number at all.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.adapter import answer

VECTORS = json.loads(Path(os.environ.get("ASSAY_VECTORS", Path(__file__).with_name("vectors.json"))).read_text())[
    "vectors"
]


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["name"] for vector in VECTORS])
def test_the_function_gives_what_the_vector_expects(vector):
    result = answer(vector["fn"], vector["inputs"])
    for key in vector.get("path") or []:
        result = result[key]
    assert differences(result, vector["expected"], vector.get("tolerance") or {}) == []


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (0.5, {"status": "unavailable"}),
        ({"status": "unavailable"}, 0.0),
        (True, 1.0),
        (0.5001, 0.5),
        ([1.0], [1.0, 2.0]),
    ],
)
def test_the_comparison_sees_a_wrong_answer(result, expected):
    assert differences(result, expected, {"abs": 1e-6}) != []


def test_a_vector_that_the_adapter_cannot_map_fails():
    with pytest.raises(LookupError, match="does not know 'unheard_of'"):
        answer("unheard_of", {})


def differences(result: Any, expected: Any, tolerance: dict[str, float], at: str = "result") -> list[str]:
    """Where the result is not what was expected; an expected object names the keys to compare."""
    if isinstance(expected, dict):
        if expected.get("status") == "unavailable":
            return [] if is_unavailable(result) else [f"{at}: {result!r} where there is no answer"]
        if not isinstance(result, dict) or is_unavailable(result):
            return [f"{at}: {result!r} is no object"]
        missing = [f"{at}.{key}: missing" for key in expected if key not in result]
        shared = [key for key in expected if key in result]
        return missing + [
            d for key in shared for d in differences(result[key], expected[key], tolerance, f"{at}.{key}")
        ]
    if isinstance(expected, list):
        if not isinstance(result, list) or len(result) != len(expected):
            return [f"{at}: {result!r} is not {expected!r}"]
        return [d for i, e in enumerate(expected) for d in differences(result[i], e, tolerance, f"{at}[{i}]")]
    return [] if same(result, expected, tolerance) else [f"{at}: {result!r} is not {expected!r}"]


def is_unavailable(result: Any) -> bool:
    return isinstance(result, dict) and result.get("status") == "unavailable"


def same(result: Any, expected: Any, tolerance: dict[str, float]) -> bool:
    if isinstance(expected, bool) or isinstance(result, bool) or not isinstance(expected, (int, float)):
        return type(result) is type(expected) and result == expected
    if not isinstance(result, (int, float)):
        return False
    return abs(result - expected) <= tolerance.get("abs", 0.0) + tolerance.get("rel", 0.0) * abs(expected)
