"""From record to records: decoding, fates, headers. A bad record never costs the next one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.codec import decode
from schemas.dead_letter import DeadLetter, original_headers
from schemas.decisions import Withdrawal
from schemas.drafts import Draft
from schemas.errors import BadMessage, BadMessageKind, FatalError
from schemas.headers import CE_ID, CE_TYPE, Headers, header
from schemas.message import Message
from schemas.topics import DRAFTS, SERVED
from workers.runtime import handling
from workers.runtime.handling import Handling, Identity
from workers.runtime.naming import Names
from workers.runtime.origin import Origin
from workers.runtime.records import InRecord, OutRecord

NOW = datetime(2026, 11, 30, tzinfo=UTC)
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"  # W3C Trace Context, section 3.2
GOOD = json.dumps({"item_id": "a", "text": "x"}).encode()


class Watch:
    def __init__(self, *, stop: bool = False) -> None:
        self.letters: list[BadMessageKind] = []
        self.made: list[str] = []
        self.stop = stop

    def handled(self, topic: str, messages: Sequence[Message]) -> None:
        self.made += [m.type for m in messages]

    def dead_letter(self, topic: str, kind: BadMessageKind) -> None:
        self.letters.append(kind)
        if self.stop:
            raise FatalError("too many")


async def withdraw(draft: Draft, origin: Origin) -> list[Message]:
    event_id = f"w-{origin.event_id}"
    return [Withdrawal(event_id=event_id, item_id=draft.item_id, operator="o", reason="r", withdrawn_at=NOW)]


def made(handler: Any = withdraw, watch: Watch | None = None) -> Handling:
    identity = Identity("judge", "assay.judge", "host-1", "bom-1")
    return Handling(DRAFTS, handler, names=Names("t."), identity=identity, now=lambda: NOW, observer=watch or Watch())


def record(value: bytes | None = GOOD, headers: Headers = (), key: bytes | None = b"a") -> InRecord:
    return InRecord("t.drafts", 3, 17, key, value, headers)


@pytest.mark.anyio
async def test_a_message_goes_to_its_topic_with_cloudevents_headers_and_the_drafts_trace() -> None:
    headers: Headers = ((CE_ID, b"mine"), ("traceparent", TRACE.encode()), ("tracestate", b"k=v"))
    (out,) = await made()(record(headers=headers))
    assert (out.topic, out.key) == ("t.served", b"a")
    expected = {
        "ce_specversion": "1.0", "ce_id": "w-mine", "ce_type": "assay.withdrawal.v1", "ce_source": "/assay/judge",
        "ce_time": NOW.isoformat(), "ce_subject": "a", "content-type": "application/json", "traceparent": TRACE,
        "tracestate": "k=v",
    }  # fmt: skip
    assert {name: header(out.headers, name) for name, _ in out.headers} == expected
    assert decode(SERVED, out.value, ce_type=header(out.headers, CE_TYPE)).message.key() == "a"


@pytest.mark.anyio
async def test_a_draft_without_ce_id_gets_the_same_id_every_time() -> None:
    (first,), (again,) = await made()(record()), await made()(record())
    assert header(first.headers, CE_ID) == header(again.headers, CE_ID)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "headers",
    [
        ((CE_ID, b"\xff"),),
        ((CE_ID, None),),
        ((CE_ID, b"x" * 999),),
        (("traceparent", b"\xff\xfe"),),
        (("traceparent", b"00-0-0-00"),),
    ],
)
async def test_odd_headers_cost_nothing(headers: Headers) -> None:
    (out,) = await made()(record(headers=headers))
    assert out.topic == "t.served"
    assert header(out.headers, "traceparent") is None


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (b"{", BadMessageKind.NOT_JSON),
        (b"\xff", BadMessageKind.NOT_JSON),
        (b"", BadMessageKind.EMPTY),
        (None, BadMessageKind.EMPTY),
        (b'{"item_id":"a"}', BadMessageKind.BAD_SCHEMA),
        (b'{"type":"draft_verdict"}', BadMessageKind.WRONG_TYPE),
    ],
)
async def test_a_bad_record_becomes_a_dead_letter_with_its_bytes(value: bytes | None, kind: BadMessageKind) -> None:
    watch = Watch()
    given: Headers = (("x", b"\xff"), ("null", None))
    (out,) = await made(watch=watch)(record(value, given))
    assert (out.topic, out.key, out.value) == ("t.dead-letters", b"a", value)
    letter = DeadLetter.from_headers(out.headers)
    assert letter is not None
    assert (letter.topic, letter.partition, letter.offset, letter.error_kind) == ("t.drafts", 3, 17, kind)
    assert (letter.group, letter.worker, letter.bom_version) == ("assay.judge", "host-1", "bom-1")
    assert original_headers(out.headers) == given
    assert watch.letters == [kind]


@pytest.mark.anyio
async def test_a_record_too_large_for_the_dead_letters_becomes_a_pointer() -> None:
    (out,) = await made()(record(b"x" * 10_000_000))
    assert out.value == b"{}"
    letter = DeadLetter.from_headers(out.headers)
    assert letter is not None
    assert letter.pointer
    assert (letter.topic, letter.partition, letter.offset) == ("t.drafts", 3, 17)


@pytest.mark.anyio
async def test_a_handler_may_refuse_a_message() -> None:
    async def refuse(draft: Draft, origin: Origin) -> list[Message]:
        raise BadMessage(BadMessageKind.BAD_ATTEMPT, "7 is too many", field="drafts.attempt")

    (out,) = await made(refuse)(record())
    letter = DeadLetter.from_headers(out.headers)
    assert letter is not None
    assert letter.error == "bad_attempt: drafts.attempt: 7 is too many"


@pytest.mark.anyio
async def test_a_handler_that_breaks_is_asked_again_and_its_words_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handling, "RETRY_PAUSES_S", (0.0, 0.0))
    calls = 0

    async def breaks(draft: Draft, origin: Origin) -> list[Message]:
        nonlocal calls
        calls += 1
        raise ValueError("secret text")

    (out,) = await made(breaks)(record())
    assert calls == 3
    letter = DeadLetter.from_headers(out.headers)
    assert letter is not None
    assert letter.error_kind == BadMessageKind.HANDLER_FAILED
    assert "secret" not in letter.error


@pytest.mark.anyio
async def test_a_handler_that_recovers_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handling, "RETRY_PAUSES_S", (0.0,))
    calls = 0

    async def once(draft: Draft, origin: Origin) -> list[Message]:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise ValueError
        return await withdraw(draft, origin)

    (out,) = await made(once)(record())
    assert out.topic == "t.served"


@pytest.mark.anyio
async def test_an_error_that_must_stop_the_worker_leaves_the_handling() -> None:
    async def fatal(draft: Draft, origin: Origin) -> list[Message]:
        raise FatalError("stop")

    with pytest.raises(FatalError):
        await made(fatal)(record())
    with pytest.raises(FatalError):
        await made(watch=Watch(stop=True))(record(b"{"))


def test_an_out_record_knows_its_size() -> None:
    assert OutRecord("t", b"k", b"v" * 100).size >= 101
