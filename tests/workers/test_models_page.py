"""Every example of docs/models.md is loaded as a user's file would be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from schemas.bom import Bindings, DecisionSettings, ModelBinding, Provider
from workers.bom.yaml_files import read_yaml
from workers.judge.pricing import read_prices
from workers.judge.providers.endpoints import read_endpoints

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```yaml (\w+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def examples(kind: str) -> list[str]:
    return [text for name, text in EXAMPLES if name == kind]


def bindings() -> list[ModelBinding]:
    return [
        binding
        for text in examples("bindings")
        for binding in read_yaml({"bindings.yaml": text.encode()}, "bindings.yaml", Bindings).judges.values()
    ]


def test_there_is_an_example_of_every_provider() -> None:
    assert {binding.provider for binding in bindings()} == set(Provider)


def test_caps_endpoints_and_prices_load_and_fit_the_bindings() -> None:
    (decision,), (endpoints,), (prices,) = examples("decision"), examples("endpoints"), examples("prices")
    assert read_yaml({"decision.yaml": decision.encode()}, "decision.yaml", DecisionSettings).cost_caps.need_prices
    named = {binding.endpoint for binding in bindings()} - {"default"}
    assert named == set(read_endpoints(endpoints))
    with_fallback = [b.model for b in bindings() if b.fallback or b.model.startswith("open")]
    assert set(with_fallback) == set(read_prices(prices))


@pytest.mark.parametrize("kind", sorted({kind for kind, _ in EXAMPLES}))
def test_every_kind_of_example_is_tested_here(kind: str) -> None:
    assert kind in ("bindings", "decision", "endpoints", "prices")
