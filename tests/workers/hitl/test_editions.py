"""Which guidelines are known, and which clause somebody probably meant."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.labels import Fit, fit_of
from tests.workers.hitl.test_tasks import BOM, asked, gold
from workers.hitl.editions import editions_of, nearest_clauses

CLAUSES = ("G-1.1", "G-1.2", "G-2.1", "G-2.4", "G-3.1")


@pytest.mark.parametrize(
    ("clause", "meant"), [("g-1.2", "G-1.2"), ("G1.2", "G-1.2"), ("G-2.4.", "G-2.4"), (" G 3.1", "G-3.1")]
)
def test_the_nearest_clause_comes_first(clause: str, meant: str):
    assert nearest_clauses(clause, CLAUSES)[0] == meant


@given(st.text(max_size=64), st.sets(st.text(min_size=1, max_size=8), min_size=1, max_size=6))
@settings(derandomize=True, max_examples=200, deadline=None)
def test_there_is_always_a_nearest_clause_and_never_an_invented_one(clause: str, clauses: set[str]):
    found = nearest_clauses(clause, clauses)
    assert len(found) == min(3, len(clauses))
    assert set(found) <= clauses


def test_versions_are_those_of_the_samples_and_of_the_bom_whose_word_counts():
    old = asked(7).sampled.model_copy(update={"guideline_version": "2025.4", "guideline_clauses": ("G-7.7",)})
    same = gold().sampled.model_copy(update={"guideline_clauses": ("G-9.9",)})
    silent = asked(8).sampled.model_copy(update={"guideline_version": "2024.1", "guideline_clauses": ()})
    assert editions_of(BOM, [old, same, silent]) == {
        "2025.4": ("G-7.7",),
        BOM.guideline_version: tuple(BOM.clauses),
    }


@pytest.mark.parametrize(
    ("given_", "clause", "asked_", "clauses", "fit"),
    [
        ("g2", "G-1.1", "g2", ("G-1.1",), Fit.FITS),
        ("g2", None, "g2", ("G-1.1",), Fit.FITS),
        ("g2", "G-9.9", "g2", ("G-1.1",), Fit.UNKNOWN_CLAUSE),
        ("g1", "G-1.1", "g2", ("G-1.1",), Fit.OTHER_GUIDELINES),
        ("g1", "G-9.9", "g2", ("G-1.1",), Fit.OTHER_GUIDELINES),  # nobody here has the clauses of g1
        ("g1", "G-9.9", "", (), Fit.FITS),  # a sample that says nothing holds nothing against anybody
        ("g2", "G-9.9", "g2", (), Fit.FITS),
    ],
)
def test_how_a_label_stands_to_its_tasks_guidelines(
    given_: str, clause: str | None, asked_: str, clauses: tuple[str, ...], fit: Fit
):
    assert fit_of(given_, clause, asked=asked_, clauses=clauses) is fit
