"""Event ids and hashes: same cause, same id."""

from __future__ import annotations

import uuid

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.drafts import Context, ContextItem, Draft
from schemas.ids import canonical_json, event_id, sha256_text

NAMESPACE = uuid.UUID("6f1e8a52-3c0b-5d7e-9a41-2b8f7c6d5e40")


def test_an_event_id_is_a_uuid5() -> None:
    named = "13:draft_verdict5:cause4:hash1:3"
    assert event_id("draft_verdict", "cause", "hash", 3) == str(uuid.uuid5(NAMESPACE, named))


@settings(max_examples=200, derandomize=True)
@given(st.lists(st.text(max_size=6), max_size=4), st.lists(st.text(max_size=6), max_size=4))
def test_two_lists_of_parts_share_an_id_only_when_they_are_one(a: list[str], b: list[str]) -> None:
    assert (event_id("kind", *a) == event_id("kind", *b)) == (a == b)


def test_the_text_hash_is_sha256_of_the_utf8() -> None:
    # printf 'abc' | sha256sum  (FIPS 180-2, appendix B.1)
    assert sha256_text("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_canonical_json_sorts_keys_and_keeps_big_integers() -> None:
    assert canonical_json({"b": 1, "a": [True, None]}) == b'{"a":[true,null],"b":1}'
    assert canonical_json({"b": 2**80, "a": "ü"}) == '{"a":"ü","b":1208925819614629174706176}'.encode()


def _draft(**changes: object) -> Draft:
    base = {"item_id": "a", "text": "x", "context": {"instruction": "i"}}
    return Draft.model_validate({**base, **changes})


def test_the_judged_hash_covers_text_and_context_and_nothing_else() -> None:
    base = _draft()
    same = _draft(item_id="b", slices=["new"], generator_model="g", created_at="2026-11-30T12:00:00Z")
    assert same.judged_sha256 == base.judged_sha256
    others = [_draft(text="y"), _draft(context={"instruction": "j"}), _draft(context=_with_metadata({"w": 1}))]
    assert len({d.judged_sha256 for d in [base, *others]}) == 4


def _with_metadata(metadata: dict[str, object]) -> dict[str, object]:
    return Context(instruction="i", items=(ContextItem(role="target", metadata=metadata),)).model_dump()  # type: ignore[arg-type]


def test_metadata_in_another_key_order_is_the_same_metadata() -> None:
    a, b = _draft(context=_with_metadata({"w": 1, "h": 2})), _draft(context=_with_metadata({"h": 2, "w": 1}))
    assert a.judged_sha256 == b.judged_sha256


@settings(max_examples=100, derandomize=True)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    )
)
def test_the_plain_form_of_a_context_is_its_json_form(metadata: object) -> None:
    context = Context.model_validate(
        {"instruction": "i", "constraints": ["c"], "items": [{"role": "t", "metadata": metadata}]}
    )
    assert context.plain() == context.model_dump(mode="json")
    assert set(context.plain()) == set(Context.model_fields)
