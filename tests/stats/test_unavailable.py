"""A number that does not exist cannot slip through anywhere."""

from __future__ import annotations

import json
import math
import operator
from dataclasses import dataclass

import numpy as np
import pytest

from stats import Number, Unavailable, available, jsonable
from stats.unavailable import UnavailableError

MISSING = Unavailable("no human fail")
BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow]
ORDER = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


@pytest.mark.parametrize("operation", [*BINARY, *ORDER])
@pytest.mark.parametrize("number", [0, 0.5, np.float64(0.5), np.ones(2)])
def test_it_refuses_arithmetic_and_comparison_with_numbers_on_both_sides(operation, number):
    for left, right in ((MISSING, number), (number, MISSING)):
        with pytest.raises(TypeError):
            operation(left, right)


@pytest.mark.parametrize(
    "use",
    [bool, float, int, abs, round, math.sqrt, math.isnan, operator.neg, operator.index, np.asarray, np.mean, np.sqrt],
)
def test_it_refuses_truth_conversion_and_functions(use):
    with pytest.raises(TypeError):
        use(MISSING)


@pytest.mark.parametrize("use", [sum, max, sorted, np.mean, np.array])
def test_it_refuses_inside_a_list_of_numbers(use):
    with pytest.raises(TypeError):
        use([0.5, MISSING, 0.7])


def test_a_branch_on_it_stops_instead_of_passing():
    with pytest.raises(UnavailableError, match="no human fail"):
        assert "certified" if MISSING < 0.95 else "not"


def test_a_format_for_numbers_is_refused():
    with pytest.raises(TypeError):
        f"{MISSING:.2f}"


def test_two_are_equal_when_their_reasons_are():
    assert Unavailable("no human fail") == MISSING != Unavailable("no human pass")
    assert MISSING != "no human fail"
    assert len({MISSING, Unavailable("no human fail")}) == 1


def test_as_json_it_is_null_with_its_reason():
    @dataclass(frozen=True)
    class Result:
        spec: Number
        parts: list[Number]

    document = json.loads(json.dumps(jsonable(Result(MISSING, [0.5, MISSING])), allow_nan=False))
    assert document == {
        "spec": None,
        "spec_reason": "no human fail",
        "parts": [0.5, {"value": None, "reason": "no human fail"}],
    }


@pytest.mark.parametrize("number", [math.nan, math.inf, np.float64("nan")])
def test_a_nan_cannot_be_written_as_json(number):
    with pytest.raises(ValueError, match="cannot be written"):
        jsonable({"spec": number})


def test_available_tells_them_apart():
    assert available(0.0)
    assert not available(MISSING)
