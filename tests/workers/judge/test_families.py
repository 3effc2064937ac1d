from __future__ import annotations

import pytest

from workers.judge.families import family_of, related


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gen-writer@2026-10-01", "gen"),
        ("org/Gen-writer", "gen"),
        ("gen", "gen"),
        ("gen2-large", "gen"),
        ("gen-pro-7b", "gen-pro"),
        ("genius-1", None),
        ("my-gen-1", None),
        ("", None),
    ],
)
def test_a_family_is_how_the_name_begins(model: str, family: str | None) -> None:
    assert family_of(model, ("gen", "gen-pro", "")) == family


@pytest.mark.parametrize(
    ("generator", "admitted", "answer"),
    [
        ("gen-1", ("gen",), False),
        ("judge-writer-3", ("gen",), True),  # the judge's own
        ("stranger-1", ("gen",), True),
        (None, ("gen",), False),
        ("judge-writer-3", (), False),
    ],
)
def test_own_and_unlisted_families_are_related(generator: str | None, admitted: tuple[str, ...], answer: bool) -> None:
    assert related(generator, own="judge", admitted=admitted) is answer
