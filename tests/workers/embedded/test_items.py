from __future__ import annotations

from collections import Counter

import pytest

from schemas import codec, topics
from schemas.decisions import Decision
from schemas.errors import BadMessage, BadMessageKind
from workers.embedded.items import DemoItem, PoisonRecord, demo_items, poison_records

ITEMS = demo_items()


def test_there_are_about_sixty_items_with_ids_of_their_own():
    assert 55 <= len(ITEMS) <= 70
    assert len({item.item_id for item in ITEMS}) == len(ITEMS)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.item_id)
def test_a_first_draft_survives_the_wire(item: DemoItem):
    draft = item.first_draft()
    decoded = codec.decode(topics.DRAFTS, codec.encode(draft))
    assert decoded.message == draft
    assert decoded.flags == ()


def test_every_kind_of_decision_occurs():
    assert {item.expected_decision for item in ITEMS} == set(Decision)


def test_items_are_mended_at_the_first_second_and_third_revision():
    revised = Counter(i.expected_attempt for i in ITEMS if i.expected_decision is Decision.SERVED_AFTER_REVISION)
    assert all(revised[attempt] >= 2 for attempt in (1, 2, 3))


@pytest.mark.parametrize("item", [i for i in ITEMS if i.expected_decision is Decision.SERVED_FIRST_PASS],
                         ids=lambda item: item.item_id)  # fmt: skip
def test_what_is_served_at_once_has_no_planted_fault(item: DemoItem):
    assert item.faults == ()
    assert item.expected_attempt == 0


def test_every_kind_of_hostile_text_is_there():
    assert {item.hostile for item in ITEMS} - {None} == {
        "prompt_injection", "forged_verdict", "closing_delimiter", "chat_markup", "metadata_injection",
        "bidi_controls", "zero_width", "huge_number",
    }  # fmt: skip


# bad_attempt is the worker's to refuse, not the codec's
@pytest.mark.parametrize("record", [r for r in poison_records() if r.kind is not BadMessageKind.BAD_ATTEMPT],
                         ids=lambda record: record.key)  # fmt: skip
def test_a_poison_record_is_refused_for_the_reason_it_names(record: PoisonRecord):
    with pytest.raises(BadMessage) as refused:
        codec.decode(topics.DRAFTS, record.value)
    assert refused.value.kind is record.kind


def test_a_revision_that_quotes_no_request_is_among_the_poison():
    (record,) = [r for r in poison_records() if r.kind is BadMessageKind.BAD_ATTEMPT]
    draft = codec.decode(topics.DRAFTS, record.value).message
    assert isinstance(draft, topics.DRAFTS.messages[0])
    assert (draft.attempt, draft.revises) == (1, None)
