"""The fallback template: plain text from metadata that may be hostile."""

from __future__ import annotations

import pytest

from tests.workers.judge.specimens import draft
from workers.judge.fallback import fill, slots_of


def item(metadata: object) -> object:
    return {"instruction": "i", "items": [{"role": "target", "metadata": metadata}]}


def test_slots_are_metadata_paths() -> None:
    assert slots_of("<!-- {not a slot} -->\n{name} by {maker.name}") == ("name", "maker.name")


@pytest.mark.parametrize(
    ("metadata", "text"),
    [
        ({"name": "Kettle", "maker": {"name": "Acme"}}, "Kettle by Acme"),
        ({"name": "Ket\u202etle\x00\n2", "maker": {"name": 7}}, "Kettle 2 by 7"),
        ({"name": "Kettle"}, None),
        ({"name": ["Kettle"], "maker": {"name": "Acme"}}, None),
        ({"name": "x" * 201, "maker": {"name": "Acme"}}, None),
        ({"name": "{maker.name}", "maker": {"name": "Acme"}}, "{maker.name} by Acme"),
        (None, None),
        ("a string", None),
    ],
)
def test_a_slot_is_filled_with_one_line_of_printable_text_or_not_at_all(metadata: object, text: str | None) -> None:
    assert fill("{name} by {maker.name}", draft(context=item(metadata))) == text
