from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.drafts import Context, ContextItem, Draft
from schemas.revisions import RevisionNote, RevisionRequest
from workers.embedded.generator import MAX_CHARS, revise

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SHEET = {
    "name": "Tindra Speaker",
    "battery": {"life": "12 h", "charging_time": "3 h"},
    "weight": "540 g",
    "colours": ["moss", "sand"],
}


def draft_of(text: str, sheet: object = SHEET) -> Draft:
    context = Context(instruction="Describe it.", items=(ContextItem(role="target", metadata=sheet),))
    return Draft(item_id="sku-1", text=text, context=context, slices=("new_item",), generator_model="gen-writer@1")


def asked(draft: Draft, *notes: tuple[str | None, tuple[str, ...]]) -> RevisionRequest:
    """A request as the reflector writes it: (clause, spans) a note."""
    written = [RevisionNote(criterion_id="c", guideline_clause=clause, evidence_spans=spans) for clause, spans in notes]
    return RevisionRequest(
        item_id=draft.item_id,
        event_id="revision-1",
        attempt=draft.attempt,
        next_attempt=draft.attempt + 1,
        attempts_left=2,
        round_id="round-1",
        judged_sha256=draft.judged_sha256,
        text_sha256=draft.text_sha256,
        draft_uri="kafka://assay.drafts/0/0",
        bom_version="bom-1",
        notes=tuple(written),
        requested_at=NOW,
    )


def revised(text: str, *notes: tuple[str | None, tuple[str, ...]], sheet: object = SHEET) -> str:
    draft = draft_of(text, sheet)
    after = revise(draft, asked(draft, *notes))
    assert after is not None
    return after.text


def test_a_revision_counts_on_and_echoes_the_request():
    draft = draft_of("It plays for 20 hours.")
    request = asked(draft, ("G-1.1", ("20 hours",)))
    after = revise(draft, request, now=NOW)
    assert after is not None
    assert after.attempt == 1
    assert after.revises is not None
    assert (after.revises.revision_id, after.revises.round_id) == ("revision-1", "round-1")
    assert after.revises.judged_sha256 == draft.judged_sha256
    assert (after.context, after.slices, after.generator_model) == (draft.context, draft.slices, draft.generator_model)
    assert after.created_at == NOW


def test_the_hashes_of_a_revision_are_its_own():
    draft = draft_of("It plays for 20 hours.")
    before = draft.judged_sha256, draft.text_sha256
    after = revise(draft, asked(draft, ("G-1.1", ("20 hours",))))
    assert after is not None
    assert after.judged_sha256 != before[0]
    assert after.text_sha256 != before[1]


def test_a_request_about_another_draft_is_not_answered():
    other = draft_of("Something else altogether.")
    assert revise(draft_of("It plays for 20 hours."), asked(other, ("G-1.1", ("20 hours",)))) is None


@pytest.mark.parametrize(("text", "span", "mended"), [
    ("The battery life is 20 hours.", "20 hours", "The battery life is 12 h."),
    ("Its charging time is 5 hours.", "charging time is 5 hours", "Its charging time is 3 h."),
    ("It weighs 0,9 g.", "0,9 g", "It weighs 540 g."),
])  # fmt: skip
def test_a_wrong_number_becomes_the_one_on_the_spec_sheet_whose_name_fits_the_sentence(text, span, mended):
    assert revised(text, ("G-1.1", (span,))) == mended


def test_a_number_that_the_spec_sheet_knows_nothing_of_stays():
    assert revised("It draws 9 W.", ("G-1.1", ("9 W",))) == "It draws 9 W."


@pytest.mark.parametrize("clause", ["G-1.2", "G-1.3", "G-1.4", "G-2.3"])
def test_a_sentence_that_is_not_true_is_cut(clause):
    text = "Good sound. It joins your Wi-Fi. Weighs 540 g."
    assert revised(text, (clause, ("joins your Wi-Fi",))) == "Good sound. Weighs 540 g."


def test_a_banned_word_is_swapped_where_a_tamer_one_is_known():
    assert revised("It is Unbeatable. Yes.", ("G-2.1", ("Unbeatable",))) == "It is handy. Yes."


def test_a_banned_word_without_a_tamer_one_takes_its_sentence_along():
    assert revised("Nice. Fun is guaranteed!", ("G-2.2", ("guaranteed",))) == "Nice."


def test_a_span_is_found_again_where_the_draft_hides_invisible_characters_in_it():
    assert revised("Nice. Fun is guar\u200banteed!", ("G-2.2", ("guaranteed",))) == "Nice."


def test_the_name_is_put_in_front():
    assert revised("It plays.", ("G-3.1", ())) == "Tindra Speaker: It plays."


def test_a_long_text_keeps_the_sentences_that_fit():
    sentence = "x" * 99 + ". "
    shortened = revised(sentence * 8, ("G-3.2", ()))
    assert len(shortened) <= MAX_CHARS
    assert shortened == (sentence * 5).strip()  # 5 x 101 = 505; a sixth would reach 605 without its last blank


def test_one_clause_is_worked_on_a_round():
    text = "It plays for 20 hours. It is unbeatable."
    assert revised(text, ("G-1.1", ("20 hours",)), ("G-2.1", ("unbeatable",))) == "It plays for 12 h. It is unbeatable."


@pytest.mark.parametrize("clause", ["G-2.4", "G-3.3", "G-9.9", None])
def test_a_clause_it_does_not_understand_leaves_the_text_as_it_is(clause):
    text = "No need to watch the children."
    assert revised(text, (clause, ("No need",))) == text


def test_it_passes_over_what_it_does_not_understand_to_what_it_does():
    assert revised("Fun is guaranteed. Go.", ("G-2.4", ("Fun",)), ("G-2.2", ("guaranteed",))) == "Go."


CLAUSES = ["G-1.1", "G-1.2", "G-2.1", "G-2.3", "G-2.4", "G-3.1", "G-3.2", "G-3.3"]


@settings(derandomize=True, max_examples=200, deadline=None)
@given(
    text=st.text(min_size=1, max_size=80).filter(str.strip),
    spans=st.lists(st.text(max_size=5), max_size=3).map(tuple),
    clause=st.sampled_from(CLAUSES),
    sheet=st.sampled_from([SHEET, None, [], "12 h", 7, {"name": 3}, [{"a": ["1 h"]}]]),
)
def test_any_draft_any_spans_and_any_spec_sheet_give_a_next_attempt(text, spans, clause, sheet):
    draft = draft_of(text, sheet)
    after = revise(draft, asked(draft, (clause, spans)))
    assert after is not None
    assert after.attempt == 1
    assert after.text.strip()
