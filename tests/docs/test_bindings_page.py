"""Every example of docs/bindings.md is loaded as a BOM, checked and built."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from schemas.bom import Bom
from tests.data import ROOT
from tests.workers.bom.sealed import bom_of
from workers.judge.build import check_instrument

PAGE = (ROOT / "docs" / "bindings.md").read_text(encoding="utf-8")
BLOCKS = [(head, yaml.safe_load(body)) for head, body in re.findall(r"```yaml\n# (.+)\n([\s\S]+?)```", PAGE)]
(JUDGES,) = (content for head, content in BLOCKS if head == "judges")
CRITERIA = {content["id"]: content for head, content in BLOCKS if head == "criterion"}
PLAIN = {"id": "accuracy", "judge": "small"}


def loaded(head: str, content: dict[str, Any]) -> Bom:
    match head.split(" for "):
        case ["judges"]:
            return bom_of(PLAIN, bindings=content)
        case ["criterion"]:
            return bom_of(content, bindings=JUDGES)
        case ["decision"]:
            return bom_of(PLAIN, bindings=JUDGES, decision=content)
        case ["composition", *criterion]:
            (name,) = content
            bound = (CRITERIA[criterion[0]] if criterion else PLAIN) | {"judge": name}
            return bom_of(bound, bindings=JUDGES | {"compositions": content})
    raise AssertionError(f"an example of what? {head}")


@pytest.mark.parametrize(
    ("head", "content"), BLOCKS, ids=[f"{head}: {next(iter(c.values()))}"[:40] for head, c in BLOCKS]
)
def test_an_example_loads_and_can_be_judged_with(head: str, content: dict[str, Any]) -> None:
    check_instrument(loaded(head, content))


def test_no_example_of_the_page_is_passed_over() -> None:
    assert len(BLOCKS) == PAGE.count("```yaml") == PAGE.count("```") / 2 > 8
    kinds = {one["kind"] for head, content in BLOCKS if head.startswith("composition") for one in content.values()}
    assert kinds == {"panel", "consensus", "and_gate", "cascade"}
