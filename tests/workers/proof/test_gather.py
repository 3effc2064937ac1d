"""Records into the ledger: what cannot be read is counted, what was taken away is not shown."""

from __future__ import annotations

import pytest

from schemas.codec import encode
from schemas.decisions import ServedOutput
from schemas.message import Message
from schemas.topics import DEAD_LETTERS, DRAFTS, SERVED, TELEMETRY, Topic, topic_of
from tests.workers.proof.world import NOW, TOPIC, letter, short_day, withdrawal
from workers.proof.claims import Kept, claims, withdrawals
from workers.proof.gather import READ, enter
from workers.proof.ledger import Ledger
from workers.runtime.records import InRecord


def record(value: bytes | None, *, offset: int = 0, key: bytes | None = b"k", headers: object = ()) -> InRecord:
    return InRecord(TOPIC, 0, offset, key, value, headers, int(NOW.timestamp() * 1000))  # type: ignore[arg-type]


def day() -> Ledger:
    """The short day as bytes."""
    world, ledger = short_day(), Ledger(TOPIC)
    for (_, offset), draft in world.drafts.items():
        enter(ledger, DRAFTS, record(b"{" if draft is None else encode(draft), offset=offset))
    for one in world.letters:
        enter(ledger, DEAD_LETTERS, record(b"{", headers=one.to_headers(())))
    for message in world.said:
        if topic_of(message) in READ:
            enter(ledger, topic_of(message), record(encode(message)))
    return ledger


def broken(ledger: Ledger) -> list[str]:
    return [line for claim in claims(ledger, Kept({0: 10}, {0: 0}, False), now=NOW) for line in claim.broken]


def test_the_bytes_bear_out_what_the_messages_do() -> None:
    ledger = day()
    assert broken(ledger) == []
    assert (len(ledger.published_ms), len(ledger.attempts), len(ledger.shown)) == (10, 9, 3)
    assert not ledger.unreadable


@pytest.mark.parametrize("topic", [TELEMETRY, SERVED])
def test_a_record_of_ours_that_cannot_be_read_is_counted(topic: Topic) -> None:
    ledger = day()
    enter(ledger, topic, record(b"\xff"))
    assert ledger.unreadable == {topic.name: 1}


def test_an_empty_record_on_served_takes_the_item_away_and_a_withdrawal_says_who() -> None:
    ledger = day()
    enter(ledger, SERVED, record(None, key=b"first"))
    assert "first" not in ledger.shown
    gone: Message = withdrawal("second")
    enter(ledger, SERVED, record(encode(gone)))
    assert [one.operator for one in withdrawals(ledger)] == ["ann"]


def test_a_dead_letter_of_another_topic_is_no_fate_of_a_draft() -> None:
    ledger = day()
    enter(ledger, DEAD_LETTERS, record(b"x", headers=letter(0, topic="assay.verdicts").to_headers(())))
    enter(ledger, DEAD_LETTERS, record(b"x"))
    assert broken(ledger) == []


def test_a_text_that_somebody_else_wrote_to_served_is_found() -> None:
    ledger = day()
    served = ledger.shown["first"]
    assert not hasattr(served, "text")
    forged = next(m for m in short_day().said if isinstance(m, ServedOutput)).model_copy(update={"text": "Buy now!"})
    enter(ledger, SERVED, record(encode(forged)))
    assert broken(ledger) == ["item 'first' is shown with a text that has another hash than its record names"]
