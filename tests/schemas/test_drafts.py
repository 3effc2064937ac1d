"""What a rival does to a draft's hashes, and what it may not be."""

from __future__ import annotations

import pytest

from schemas.codec import decode
from schemas.errors import BadMessage
from schemas.ids import sha256_json
from schemas.topics import DRAFTS
from tests.workers.judge.asked import draft


def test_a_draft_without_a_rival_is_named_as_it_always_was() -> None:
    one = draft()
    assert one.judged_sha256 == sha256_json({"text": one.text, "context": one.context.model_dump(mode="json")})


def test_a_rival_is_judged_too_but_is_not_the_text() -> None:
    one, other, third = draft(), draft(rival="Another text."), draft(rival="A third text.")
    assert len({one.judged_sha256, other.judged_sha256, third.judged_sha256}) == 3
    assert one.text_sha256 == other.text_sha256


@pytest.mark.parametrize("rival", ['""', '"  \\n"', "7", '["a"]'])
def test_a_rival_that_is_no_text_is_a_bad_message(rival: str) -> None:
    with pytest.raises(BadMessage):
        decode(DRAFTS, f'{{"item_id": "i", "text": "t", "rival": {rival}}}'.encode())
