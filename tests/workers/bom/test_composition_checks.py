"""Compositions and forms that cannot work are refused, each with the BOM that must be caught."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.errors import BomError
from tests.workers.bom.sealed import bom_of, family_of_three

C1 = {"id": "c1", "judge": "j"}
ORDINAL = {**C1, "form": "ordinal", "scale": {"min": 1, "max": 5, "pass_at": 4}}


def panel(*members: str, **more: Any) -> dict[str, Any]:
    return {"kind": "panel", "members": list(members), **more}


def gate(first: str, second: str) -> dict[str, Any]:
    return {"kind": "and_gate", "first": first, "second": second}


@pytest.mark.parametrize(
    ("compositions", "message"),
    [
        ({"j": panel("small", "nobody")}, "'nobody' is neither a judge nor a composition"),
        ({"j": panel("small")}, "at least 2"),
        ({"j": panel("small", "small")}, "sits on a panel once"),
        ({"j": panel("small", "large", rule="weighted", weights={"small": 1, "large": 1})}, "needs a threshold"),
        ({"j": panel("small", "large", rule="weighted", threshold=0.6, weights={"small": 1})}, "weight for every"),
        ({"j": panel("small", "large", weights={"small": 1, "large": 1})}, "other rules take neither"),
        (
            {"j": panel("small", "large", rule="weighted", threshold=0.6, weights={"small": 0, "large": 1})},
            "greater than 0",
        ),
        (
            {"j": panel("small", "large", rule="weighted", threshold=0.5, weights={"small": 1, "large": 1})},
            "greater than 0.5",
        ),
        ({"j": panel("small", "k"), "k": panel("large", "j")}, "j asks k asks j"),
        ({"j": panel("small", "large"), "small": panel("large", "third")}, "both a judge and a composition"),
        ({"j": gate("small", "small")}, "family 'birch'"),
        ({"j": gate("small", "k"), "k": panel("large", "small")}, "family 'birch'"),
        ({"j": {"kind": "consensus", "member": "k", "samples": 3, "temperature": 1}, "k": panel("small", "large")},
         "asks a single model"),
        ({"j": {"kind": "consensus", "member": "small", "samples": 3, "temperature": 0}}, "greater than 0"),
        ({"j": {"kind": "cascade", "first": "small", "second": "large", "settles": []}}, "settles"),
        ({"j": {"kind": "cascade", "first": "small", "second": "large", "settles": ["abstain"]}}, "settles"),
        ({"j": {"kind": "cascade", "first": "small", "second": "large", "clear": {"fail_up_to": 1, "pass_from": 5}}},
         "clear cases are scores"),
        ({"j": {"kind": "cascade", "first": "small", "second": "large", "min_probability": 0.9}}, "logprobs: true"),
        ({"j": {"kind": "cascade", "first": "k", "second": "large", "min_probability": 0.9},
          "k": panel("small", "third")}, "logprobs: true"),
        ({"j": {"kind": "jury"}}, "kind"),
        ({"j": panel("small", "large", extra=1)}, "extra"),
        (
            {"j": panel("a", "b"), **{n: {"kind": "consensus", "member": "small", "samples": 15, "temperature": 1}
                                      for n in "wxyz"}, "a": panel("w", "x"), "b": panel("y", "z")},
            "more than 50",
        ),
        ({"j": panel("a", "small"), "a": panel("b", "small"), "b": panel("c", "small"), "c": panel("d", "small"),
          "d": panel("e", "small"), "e": panel("large", "small")}, "nested deeper"),
    ],
)  # fmt: skip
def test_a_composition_that_cannot_work_is_refused(compositions: dict[str, Any], message: str) -> None:
    with pytest.raises(BomError, match=message):
        bom_of(C1, bindings=family_of_three(**compositions))


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        ({"form": "ordinal"}, "a scale belongs to form ordinal"),
        ({"scale": {"min": 1, "max": 5, "pass_at": 4}}, "a scale belongs to form ordinal"),
        ({"form": "ordinal", "scale": {"min": 1, "max": 5, "pass_at": 1}}, "pass_at must lie"),
        ({"form": "ordinal", "scale": {"min": 1, "max": 5, "pass_at": 6}}, "pass_at must lie"),
        ({"form": "ordinal", "scale": {"min": 0, "max": 500, "pass_at": 6}}, "at most 100 steps"),
        ({"form": "ordinal", "scale": {"min": 1, "max": 5, "pass_at": 4.5}}, "pass_at"),
        ({"comparison": {}}, "pairwise alone"),
        ({"form": "pairwise", "comparison": {"passes_on": ["TIE"]}}, "passes_on is"),
        ({"form": "pairwise", "comparison": {"passes_on": ["A", "B"]}}, "passes_on is"),
        ({"form": "pairwise", "rules": [{"rule": "length", "clause": "G-1", "params": {"max_words": 5}}]}, "rules"),
        ({"judge": "small", "audit": "small"}, "share the family 'birch'"),
        ({"judge": "small", "audit": "nobody"}, "no binding 'nobody'"),
        ({"form": "essay"}, "form"),
    ],
)
def test_a_criterion_whose_form_or_audit_does_not_hold_is_refused(criterion: dict[str, Any], message: str) -> None:
    with pytest.raises(BomError, match=message):
        bom_of({**C1, "judge": "small", **criterion})


def test_a_fallback_of_the_judges_family_is_no_stranger_either() -> None:
    bindings = family_of_three(j=gate("small", "large"))
    bindings["judges"]["large"]["fallback"] = "third"
    bindings["judges"]["third"]["family"] = "Birch"
    with pytest.raises(BomError, match="family 'birch'"):
        bom_of(C1, bindings=bindings)
    del bindings["judges"]["large"]["fallback"]
    bom_of(C1, bindings=bindings)


def test_a_consensus_of_a_vendor_keeps_to_its_temperatures() -> None:
    model = {"provider": "anthropic", "model": "small@2026-09-15", "family": "birch"}
    hot = {"kind": "consensus", "member": "small", "samples": 3, "temperature": 1.2}
    with pytest.raises(BomError, match="no temperature above 1"):
        bom_of(C1, bindings={"judges": {"small": model}, "compositions": {"j": hot}})
    bom_of(C1, bindings={"judges": {"small": model}, "compositions": {"j": hot | {"temperature": 1}}})


def test_clear_cases_lie_on_both_sides_of_the_threshold() -> None:
    clear = {"kind": "cascade", "first": "small", "second": "large", "clear": {"fail_up_to": 1, "pass_from": 3}}
    with pytest.raises(BomError, match="between the clear cases"):
        bom_of(ORDINAL, bindings=family_of_three(j=clear))
    with pytest.raises(BomError, match="no score lies between"):
        bom_of(ORDINAL, bindings=family_of_three(j=clear | {"clear": {"fail_up_to": 2, "pass_from": 3}}))


@pytest.mark.parametrize("form", ["ordinal", "pairwise"])
def test_a_form_needs_its_template(form: str) -> None:
    criterion = ORDINAL if form == "ordinal" else {**C1, "form": "pairwise"}
    with pytest.raises(BomError, match=f"template_{form}.md: byte 0"):
        bom_of({**criterion, "judge": "small"}, files={f"template_{form}.md": b"\xff"})
