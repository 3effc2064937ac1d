"""The class of an error is the record's fate."""

from __future__ import annotations

from datetime import UTC, datetime

import orjson
import pytest
from prometheus_client import CollectorRegistry

from schemas.dead_letter import DeadLetter, original_headers
from schemas.errors import BadMessage, BadMessageKind, DependencyUnavailable, FatalError
from schemas.headers import Trace, header
from schemas.revisions import RevisionRequest
from schemas.topics import DRAFTS
from workers.runtime.handling import route
from workers.runtime.metrics import Metrics
from workers.runtime.producing import OutputTooLarge
from workers.runtime.records import InRecord, OutRecord
from workers.runtime.settings import Settings

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
TRACEPARENT = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TEXT = orjson.dumps({"item_id": "sku-1", "text": "A fine watch.", "context": {"instruction": "Describe."}})


def record(value=TEXT, headers=(), key=b"sku-1"):
    return InRecord("assay.drafts", 2, 41, key, value, headers)


class Judge:
    """A handler that answers with a request, after raising what it was given."""

    def __init__(self, *raises):
        self.raises, self.seen = list(raises), []

    async def __call__(self, draft, origin):
        self.seen.append((draft, origin))
        if self.raises:
            raise self.raises.pop(0)
        return [request(draft, origin)]


def request(draft, origin):
    return RevisionRequest.model_construct(event_id=f"r-{origin.event_id}", item_id=draft.item_id)


def routed(handler, **settings):
    metrics = Metrics(CollectorRegistry())
    return route(
        DRAFTS, handler, Settings(**settings), worker="judge", metrics=metrics, now=lambda: NOW, bom_version="bom-7"
    )


async def test_a_draft_becomes_messages_with_the_trace_passed_on():
    judge = Judge()
    (out,) = await routed(judge).process(record(headers=(("ce_id", b"e-1"), ("traceparent", TRACEPARENT))))
    draft, origin = judge.seen[0]
    assert (draft.item_id, origin.event_id, origin.uri) == ("sku-1", "e-1", "kafka://assay.drafts/2/41")
    assert origin.trace == Trace(TRACEPARENT.decode())
    assert (out.topic, out.key) == ("assay.revision-requests", b"sku-1")
    assert header(out.headers, "ce_id") == "r-e-1"
    assert header(out.headers, "ce_source") == "/assay/judge"
    assert header(out.headers, "traceparent") == TRACEPARENT.decode()


async def test_a_draft_without_a_usable_ce_id_gets_the_same_id_every_time():
    judge = Judge()
    process = routed(judge).process
    for headers in ((), (("ce_id", b"\xff"),), (("ce_id", None),)):
        await process(record(headers=headers))
    first, *others = [origin.event_id for _, origin in judge.seen]
    assert others == [first, first]
    assert len(first) == 36


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (b"{not json", "not_json"),
        (b"\xff\xfe", "not_json"),
        (b"", "empty"),
        (None, "empty"),
        (b"[1]", "bad_schema"),
        (b'{"item_id": "a", "text": 7, "context": {"instruction": "x"}}', "bad_schema"),
        (TEXT.replace(b"}}", b'}, "type": "draft_verdict"}'), "wrong_type"),
    ],
)
async def test_what_can_never_be_handled_is_set_aside_with_its_bytes(value, kind):
    judge = Judge()
    (out,) = await routed(judge).process(record(value, headers=(("h", b"\xff"),)))
    letter = DeadLetter.from_headers(out.headers)
    assert judge.seen == []
    assert (out.topic, out.key, out.value) == ("assay.dead-letters", b"sku-1", value)
    assert original_headers(out.headers) == (("h", b"\xff"),)
    assert (letter.error_kind, letter.topic, letter.partition, letter.offset) == (kind, "assay.drafts", 2, 41)
    assert (letter.group, letter.worker, letter.bom_version, letter.at) == (
        "assay.judge", "judge", "bom-7", NOW.isoformat(),
    )  # fmt: skip


async def test_a_handler_may_refuse_a_message():
    (out,) = await routed(Judge(BadMessage(BadMessageKind.BAD_ATTEMPT, "7 is beyond 3"))).process(record())
    assert DeadLetter.from_headers(out.headers).error == "bad_attempt: 7 is beyond 3"


async def test_a_dependency_that_comes_back_costs_a_wait_and_nothing_else(monkeypatch):
    monkeypatch.setattr("workers.runtime.handling._RETRY_S", 0.001)
    judge = Judge(DependencyUnavailable("no Redis"), DependencyUnavailable("no Redis"))
    (out,) = await routed(judge).process(record())
    assert out.topic == "assay.revision-requests"
    assert len(judge.seen) == 3


async def test_what_is_fatal_leaves_the_handler():
    with pytest.raises(FatalError, match="fenced"):
        await routed(Judge(FatalError("fenced"))).process(record())


async def test_a_bug_that_passes_is_forgiven(monkeypatch):
    monkeypatch.setattr("workers.runtime.handling._BUG_PAUSES_S", (0.0, 0.0))
    (out,) = await routed(Judge(KeyError("A fine watch."), ValueError())).process(record())
    assert out.topic == "assay.revision-requests"


async def test_a_bug_that_stays_is_a_dead_letter_without_the_text_in_it(monkeypatch):
    monkeypatch.setattr("workers.runtime.handling._BUG_PAUSES_S", (0.0, 0.0))
    judge = Judge(*(KeyError("A fine watch.") for _ in range(3)))
    (out,) = await routed(judge).process(record())
    letter = DeadLetter.from_headers(out.headers)
    assert letter.error_kind == "handler_failed"
    assert letter.error.startswith("handler_failed: KeyError at ")
    assert "watch" not in letter.error


async def test_too_many_dead_letters_stop_the_worker():
    process = routed(Judge(), dead_letters_in_a_row=3).process
    for _ in range(2):
        await process(record(b"{"))
    with pytest.raises(FatalError, match="3 dead letters in a row"):
        await process(record(b"{"))


async def test_good_records_between_them_keep_the_worker_going():
    process = routed(Judge(), dead_letters_in_a_row=3, dead_letter_ratio=0.9).process
    for _ in range(300):
        await process(record(b"{"))
        await process(record())


async def test_an_output_that_is_too_large_sets_the_record_aside():
    (out,) = routed(Judge()).oversize(record(), OutputTooLarge(OutRecord("assay.telemetry", b"k", b"x" * 99), 50))
    assert DeadLetter.from_headers(out.headers).error_kind == "too_large"
    assert "assay.telemetry has" in DeadLetter.from_headers(out.headers).error
    assert out.value == TEXT
