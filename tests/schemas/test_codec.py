"""The codec is total: any bytes give a message or BadMessage."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.codec import decode, encode
from schemas.decisions import Withdrawal
from schemas.drafts import Draft
from schemas.errors import BadMessage, BadMessageKind
from schemas.topics import CONTROL, DRAFTS, SERVED, TELEMETRY, TOPICS
from schemas.verdict_space import Flag

SMALLEST = {"item_id": "sku-1", "text": "A red kettle.", "context": {"instruction": "Describe the kettle."}}


def raw(**changes: object) -> bytes:
    return json.dumps({**SMALLEST, **changes}).encode()


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, BadMessageKind.EMPTY),
        (b"", BadMessageKind.EMPTY),
        (b"{", BadMessageKind.NOT_JSON),
        (b"null", BadMessageKind.BAD_SCHEMA),
        (b"[1]", BadMessageKind.BAD_SCHEMA),
        (b"\xff\xfe", BadMessageKind.NOT_JSON),
        (b"[" * 100_000, BadMessageKind.NOT_JSON),
        (b'{"a":' * 100_000, BadMessageKind.NOT_JSON),
        (b'{"item_id":"a","text":"x","context":{"items":[{"role":"t","metadata":NaN}]}}', BadMessageKind.NOT_JSON),
        (b'{"item_id":"a","text":"x","context":{"items":[{"role":"t","metadata":1e999}]}}', BadMessageKind.NOT_JSON),
        (
            raw(context=0).replace(b"0}", b'{"items":[{"role":"t","metadata":1' + b"0" * 310 + b".0}]}}"),
            BadMessageKind.NOT_JSON,
        ),
        (raw(item_id=""), BadMessageKind.BAD_SCHEMA),
        (raw(item_id=None), BadMessageKind.BAD_SCHEMA),
        (raw(text=""), BadMessageKind.BAD_SCHEMA),
        (raw(text=" \n"), BadMessageKind.BAD_SCHEMA),
        (raw(text=17), BadMessageKind.BAD_SCHEMA),
        (raw(attempt=-1), BadMessageKind.BAD_SCHEMA),
        (raw(attempt="1"), BadMessageKind.BAD_SCHEMA),
        (raw(attempt=True), BadMessageKind.BAD_SCHEMA),
        (raw(type="draft_verdict"), BadMessageKind.WRONG_TYPE),
        (b"x" * (DRAFTS.max_message_bytes + 1), BadMessageKind.TOO_LARGE),
    ],
)
def test_a_bad_draft_is_refused_with_its_kind(value: bytes | None, kind: BadMessageKind) -> None:
    with pytest.raises(BadMessage) as caught:
        decode(DRAFTS, value)
    assert caught.value.kind is kind


def test_the_error_names_field_and_value_but_never_the_text() -> None:
    with pytest.raises(BadMessage, match=r"drafts\.attempt: .*got '1'"):
        decode(DRAFTS, raw(attempt="1"))
    with pytest.raises(BadMessage) as caught:
        decode(DRAFTS, raw(text=["secret words"]))
    assert "secret" not in str(caught.value)


def test_the_smallest_draft_is_enough_and_unknown_fields_are_tolerated() -> None:
    draft = decode(DRAFTS, raw(colour="red")).message
    assert isinstance(draft, Draft)
    assert (draft.attempt, draft.revises, draft.slices) == (0, None, ())


def test_a_record_of_ours_on_the_wrong_topic_is_refused_by_header_and_by_body() -> None:
    with pytest.raises(BadMessage, match="wrong_type"):
        decode(DRAFTS, raw(), ce_type="assay.served_output.v1")
    with pytest.raises(BadMessage, match="wrong_type"):
        decode(SERVED, raw(type="attempt_record"))


def test_a_ce_type_of_the_producers_own_is_no_matter() -> None:
    assert decode(DRAFTS, raw(), ce_type="com.shop.draft").message.key() == "sku-1"


def test_lone_surrogates_become_the_replacement_character_with_a_flag() -> None:
    decoded = decode(DRAFTS, b'{"item_id":"a","text":"x \\ud800 y"}')
    assert isinstance(decoded.message, Draft)
    assert decoded.message.text == "x \ufffd y"
    assert decoded.flags == (Flag.SURROGATES_REPLACED,)


def test_a_big_integer_in_metadata_stays_exact() -> None:
    metadata = {"serial": 123456789012345678901234567890}
    draft = decode(DRAFTS, raw(context={"items": [{"role": "target", "metadata": metadata}]})).message
    assert isinstance(draft, Draft)
    assert draft.context.items[0].metadata == metadata
    assert len(draft.judged_sha256) == 64


def test_the_class_of_a_shared_topic_is_read_from_the_body() -> None:
    known = {"event_id": "e", "item_id": "a", "operator": "o", "reason": "r", "withdrawn_at": "2026-11-30T12:00:00Z"}
    value = json.dumps({"type": "withdrawal", **known}).encode()
    assert isinstance(decode(SERVED, value).message, Withdrawal)


@pytest.mark.parametrize("text", ["NUL \x00", "emoji 🙂", "\u202ertl", "zero\u200bwidth", "NaN and 1e999"])
def test_any_text_survives_with_a_stable_hash(text: str) -> None:
    first = decode(DRAFTS, raw(text=text)).message
    again = decode(DRAFTS, encode(first)).message
    assert isinstance(first, Draft)
    assert isinstance(again, Draft)
    assert again.text == text
    assert again.judged_sha256 == first.judged_sha256


@settings(max_examples=300, derandomize=True)
@given(st.sampled_from(TOPICS), st.binary(max_size=300))
def test_any_bytes_give_a_message_or_bad_message(topic: object, value: bytes) -> None:
    with pytest.raises(BadMessage):
        decode(topic if topic in (DRAFTS, SERVED, TELEMETRY, CONTROL) else DRAFTS, value)  # type: ignore[arg-type]


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=300, derandomize=True)
@given(_json, st.sampled_from(["text", "item_id", "attempt", "context", "slices", "revises", "created_at", "type"]))
def test_any_json_in_any_field_gives_a_message_or_bad_message(value: object, field: str) -> None:
    try:
        message = decode(DRAFTS, raw(**{field: value})).message
    except BadMessage:
        return
    assert decode(DRAFTS, encode(message)).message == message
