"""The BOM that the demo judges with: what its files must say of each other beyond what the loader checks."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from schemas.bom import Bom
from workers.bom import MANIFEST, load_bom, manifest_of, read_files
from workers.bom.example import example_bom
from workers.embedded.items import demo_items
from workers.judge.fallback import fill

CLAUSE = re.compile(r"\bG-\d+\.\d+\b")


def files() -> Mapping[str, bytes]:
    return {name: raw for name, raw in read_files(example_bom()).items() if name != MANIFEST}


@pytest.fixture(scope="module")
def bom() -> Bom:
    return load_bom({**files(), MANIFEST: manifest_of(files()).to_bytes()})


def test_every_clause_of_the_guidelines_belongs_to_exactly_one_criterion(bom: Bom):
    owned = [clause for criterion in bom.charter.criteria.must_have for clause in criterion.clauses]
    assert sorted(owned) == sorted(bom.clauses)


def test_a_rubric_cites_the_clauses_of_its_criterion_and_each_of_them(bom: Bom):
    for criterion in bom.charter.criteria.must_have:
        assert set(CLAUSE.findall(bom.rubrics[criterion.id])) == set(criterion.clauses)


def test_every_clause_says_when_a_text_passes_and_when_it_fails(bom: Bom):
    for clause, text in bom.clauses.items():
        assert "* Pass:" in text, clause
        assert "* Fail:" in text, clause


def test_a_rule_cites_a_clause_of_its_own_criterion(bom: Bom):
    for criterion in bom.charter.criteria.must_have:
        assert {rule.clause for rule in criterion.rules} <= set(criterion.clauses)


def test_every_demo_item_with_a_spec_sheet_has_a_fallback(bom: Bom):
    for item in demo_items():
        shown = fill(bom.fallback or "", item.first_draft())
        assert (shown is None) == (item.metadata is None)
        assert shown is None or "{" not in shown


def test_the_commented_binding_is_one_that_would_load():
    text = files()["bindings.yaml"].decode()
    start = text.index("# judges:")
    uncommented = "".join(line.removeprefix("#").removeprefix(" ") for line in text[start:].splitlines(keepends=True))
    own = {**files(), "bindings.yaml": uncommented.encode()}
    bom = load_bom({**own, MANIFEST: manifest_of(own).to_bytes()})
    assert bom.bindings["primary"].provider == "openai_compatible"
