from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.codec import decode, encode
from schemas.drafts import Draft
from schemas.errors import BadMessage
from schemas.topics import DRAFTS
from tests.data import ROOT
from workers.publish.ignored_fields import MAX_NAMES, Ignored, Tally, Why, ignored_in

EXAMPLES = sorted((ROOT / "schemas" / "examples" / "drafts").glob("*.json"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_nothing_of_an_example_is_ignored(path: Any) -> None:
    assert ignored_in(path.read_bytes()) == frozenset()


@pytest.mark.parametrize(
    ("document", "field", "told"),
    [
        ('{"txt": "a"}', "txt", "unknown field txt is ignored; did you mean text?"),
        ('{"instruction": "a"}', "instruction", "ignored; did you mean context.instruction?"),
        ('{"zzz": {"context": {"q": 1}}}', "zzz", "unknown field zzz is ignored"),
        ('{"context": {"constraint": []}}', "context.constraint", "did you mean context.constraints?"),
        ('{"context": {"items": [{"rolle": "target"}]}}', "context.items.rolle", "did you mean context.items.role?"),
        ('{"revises": {"round": "a"}}', "revises.round", "unknown field revises.round is ignored"),
        ('{"text": "a", "text": "b"}', "text", "field text is given twice; only the last one counts"),
        ('{"context": {"items": [{"metadata": [{"a": 1, "a": 2}]}]}}', "context.items.metadata.a", "given twice"),
    ],
)  # fmt: skip
def test_what_nobody_reads_is_named_with_what_may_have_been_meant(document: str, field: str, told: str) -> None:
    (one,) = ignored_in(document)
    assert one.field == field
    assert told in one.told()


def test_metadata_may_hold_any_field_once() -> None:
    assert ignored_in('{"context": {"items": [{"metadata": {"txt": 1, "context": {"q": 1}}}]}}') == frozenset()


def test_a_hostile_name_is_cut_and_cannot_steer_a_terminal() -> None:
    (one,) = ignored_in(json.dumps({"\u202e\x1b[m" + "x" * 1_000_000: 1}))
    assert one.told().isprintable()
    assert len(one.told()) < 200


def test_names_are_counted_by_draft_and_their_number_is_bounded() -> None:
    tally = Tally()
    for _ in range(2):
        tally.add(ignored_in('{"a": 1, "text": "x", "text": "y", "text": "z"}'))
    assert tally.drafts == {Ignored("a", Why.UNKNOWN): 2, Ignored("text", Why.TWICE): 2}
    tally.add(frozenset(Ignored(str(number), Why.UNKNOWN) for number in range(MAX_NAMES)))
    assert (len(tally.drafts), tally.others) == (MAX_NAMES, 2)


json_values = st.recursive(
    st.none() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(extra=st.dictionaries(st.text(max_size=12), json_values, max_size=4))
def test_every_unknown_field_is_found_and_without_them_the_draft_is_the_same(extra: dict[str, Any]) -> None:
    unknown = {name: value for name, value in extra.items() if name not in Draft.model_fields}
    least = {"item_id": "a", "text": "t", "context": {"instruction": "i"}}
    raw = json.dumps(unknown | least).encode()
    assert {one.field for one in ignored_in(raw)} == set(unknown)
    assert encode(decode(DRAFTS, raw).message) == encode(decode(DRAFTS, json.dumps(least).encode()).message)


def test_whatever_is_a_draft_can_be_looked_into_however_deep() -> None:
    deepest = 0
    for depth in (10, 100, 180, 190, 195, 198, 250, 5_000):
        metadata = '{"a":' * depth + "1" + "}" * depth
        raw = b'{"item_id":"a","text":"t","context":{"items":[{"role":"target","metadata":%s}]}}' % metadata.encode()
        try:
            decode(DRAFTS, raw)
        except BadMessage:
            continue
        assert ignored_in(raw) == frozenset()
        deepest = depth
    assert deepest >= 100
