"""Poison, repeats, kill switch, restarts and a cache that goes away: nothing lost, nothing decided twice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from schemas.control import KillSwitch
from schemas.decisions import ItemDecision, ServedOutput
from schemas.drafts import Draft
from schemas.errors import BadMessageKind, SettingsError
from schemas.headers import CE_TYPE, Headers
from schemas.telemetry import AttemptRecord
from schemas.topics import CONTROL, DEAD_LETTERS, DRAFTS, MAX_MESSAGE_BYTES, TOPICS
from schemas.verdict_space import Flag
from schemas.verdicts import DraftVerdict
from tests.journeys.scene import FAIL, NOON, PASS, Scene, draft, one_judge_bom, scene
from workers.embedded.cache import EmbeddedCache
from workers.embedded.services import ChildServices

pytestmark = pytest.mark.anyio

Unique = Callable[[str], str]
EXAMPLES = Path(__file__).parents[2] / "schemas" / "examples"
GOOD = json.dumps({"item_id": "x", "text": "t", "context": {"instruction": "i"}})

POISON: dict[str, tuple[BadMessageKind, bytes | None]] = {
    "bad JSON": (BadMessageKind.NOT_JSON, GOOD[:-3].encode()),
    "a list": (BadMessageKind.BAD_SCHEMA, b"[1]"),
    "a number": (BadMessageKind.BAD_SCHEMA, b"17"),
    "NaN": (BadMessageKind.NOT_JSON, GOOD.replace('"t"', "NaN").encode()),
    "infinite": (BadMessageKind.NOT_JSON, GOOD.replace("{", '{"attempt": 1e999, ', 1).encode()),
    "deep": (BadMessageKind.NOT_JSON, b"[" * 100_000),
    "wrong type": (BadMessageKind.BAD_SCHEMA, GOOD.replace('"t"', "42").encode()),
    "no text": (BadMessageKind.BAD_SCHEMA, b'{"item_id": "x"}'),
    "invalid UTF-8": (BadMessageKind.NOT_JSON, GOOD.encode().replace(b'"t"', b'"\xe9"')),
    "empty": (BadMessageKind.EMPTY, b""),
    "null": (BadMessageKind.EMPTY, None),
    "not even bytes of text": (BadMessageKind.NOT_JSON, bytes(range(256))),
    "huge": (BadMessageKind.TOO_LARGE, b'"' + b"x" * MAX_MESSAGE_BYTES + b'"'),
    "beyond the budget": (BadMessageKind.BAD_ATTEMPT, GOOD.replace("{", '{"attempt": 9, ', 1).encode()),
    "answers nothing": (BadMessageKind.BAD_ATTEMPT, GOOD.replace("{", '{"attempt": 1, ', 1).encode()),
    "negative": (BadMessageKind.BAD_SCHEMA, GOOD.replace("{", '{"attempt": -1, ', 1).encode()),
}


async def test_poison_of_every_kind_is_set_aside_with_its_bytes_and_its_neighbours_go_on(
    services: ChildServices, unique: Unique, tmp_path: Path
) -> None:
    headers: Headers = (("\xe9", b"\xff"), ("null", None), ("traceparent", b"nonsense"))
    async with scene(services, unique("poison"), bom=one_judge_bom(tmp_path), roles=["judge"]) as on:
        for name, (_, value) in POISON.items():
            await on.put(DRAFTS, value, key=name, headers=headers)
            await on.publish(draft(f"after {name}"))
        await on.until(lambda: len(on.said(ItemDecision)) == len(POISON))
        await on.until(lambda: len(on.dead_letters()) >= len(POISON))
        letters = {record.key: (record.value, record.headers[:3]) for record in on.records(DEAD_LETTERS)}
        kinds = Counter(letter.error_kind for letter in on.dead_letters())
        told = [letter.error for letter in on.dead_letters()]
        metrics = await on.fetch("judge", "/metrics")
    assert letters == {name.encode(): (value, headers) for name, (_, value) in POISON.items()}
    assert kinds == Counter(str(kind) for kind, _ in POISON.values())
    assert all(len(error) < 500 for error in told)
    for kind, number in kinds.items():
        assert f'assay_dead_letters_total{{kind="{kind}",topic="drafts"}} {number}.0' in metrics


async def test_a_record_without_key_and_value_is_set_aside_too(
    services: ChildServices, unique: Unique, tmp_path: Path
) -> None:
    async with scene(services, unique("nokey"), bom=one_judge_bom(tmp_path), roles=["judge"]) as on:
        await on.put(DRAFTS, b"{", key=None)
        await on.until(lambda: bool(on.dead_letters()))
        (record,) = on.records(DEAD_LETTERS)
    assert (record.key, record.value) == (None, b"{")


OURS = [row.name for row in TOPICS if row.messages and row is not DRAFTS]


def examples_of(topic: str) -> list[tuple[str, bytes]]:
    """CloudEvents type and bytes of each example message of a topic."""
    classes = {message.model_fields["type"].default: message for row in TOPICS for message in row.messages}
    found = []
    for file in sorted((EXAMPLES / topic).glob("*.json")):
        kind = json.loads(file.read_bytes())["type"]
        found.append((classes[kind].ce_type, file.read_bytes()))
    return found


async def test_our_own_records_published_to_the_drafts_are_never_judged(
    services: ChildServices, unique: Unique, tmp_path: Path
) -> None:
    ours = [example for topic in OURS for example in examples_of(topic)]
    assert {ce_type for ce_type, _ in ours} == {
        message.ce_type for row in TOPICS for message in row.messages if message is not Draft
    }
    async with scene(services, unique("loop"), bom=one_judge_bom(tmp_path), dead_letters_in_a_row=100) as on:
        for ce_type, value in ours:
            await on.put(DRAFTS, value, headers=((CE_TYPE, ce_type.encode()),))
            await on.put(DRAFTS, value)  # and when somebody has lost the headers on the way
        await on.publish(draft("last"))
        await on.until(lambda: bool(on.said(ItemDecision)))
        await on.until(lambda: len(on.dead_letters()) >= 2 * len(ours))
        assert {letter.error_kind for letter in on.dead_letters()} == {"wrong_type"}
        assert [verdict.item_id for verdict in on.said(DraftVerdict)] == ["last"]


async def test_a_draft_delivered_twice_is_one_verdict_one_served_record_and_one_call(
    services: ChildServices, unique: Unique, tmp_path: Path
) -> None:
    slow = {"contains": "twice", "reply": PASS, "latency_s": 0.05}
    twice = draft("sku-1", "A kettle that comes twice.")
    async with scene(services, unique("twice"), bom=one_judge_bom(tmp_path, slow), roles=["judge"]) as on:
        await on.publish(twice, twice)
        await on.until(lambda: len(on.said(ItemDecision)) == 2 and len(on.said(ServedOutput)) == 2)
        await on.publish(twice)
        await on.until(lambda: len(on.said(ItemDecision)) == 3 and len(on.said(ServedOutput)) == 3)
        assert sum(record.model_calls for record in on.said(AttemptRecord)) == 1
        for kind in (DraftVerdict, AttemptRecord, ServedOutput, ItemDecision):
            assert len({message.event_id for message in on.said(kind)}) == 1, kind
        assert len({output.model_dump_json(exclude={"served_at"}) for output in on.said(ServedOutput)}) == 1


async def switch(on: Scene, killed: bool) -> None:
    command = KillSwitch(event_id=f"k-{killed}", killed=killed, operator="on-call", reason="a test", at=NOON)
    await on.put(CONTROL, command.model_dump_json().encode(), key=command.key())


async def test_nothing_is_served_while_killed_and_everything_after(
    services: ChildServices, unique: Unique, tmp_path: Path
) -> None:
    slow = {"contains": "slow", "reply": PASS, "latency_s": 0.4}
    async with scene(services, unique("killed"), bom=one_judge_bom(tmp_path, slow)) as on:
        await on.publish(draft("before"))
        await on.until(lambda: bool(on.said(ServedOutput)))
        await on.publish(*(draft(f"in-flight-{n}", f"A slow kettle, {n}.") for n in range(20)))
        await switch(on, killed=True)
        await on.publish(*(draft(f"waits-{n}") for n in range(20)))
        await _held(on)
        said = len(on.said(DraftVerdict))
        with pytest.raises(TimeoutError):
            await on.until(lambda: len(on.said(DraftVerdict)) > said, timeout_s=0.7)  # longer than what was in flight
        await switch(on, killed=False)
        await on.until(lambda: len({output.item_id for output in on.said(ServedOutput)}) == 41)
        assert not on.dead_letters()


async def _held(on: Scene) -> None:
    """The judge says that it is not ready because it is killed."""
    while True:
        try:
            await on.fetch("judge", "/readyz")
        except OSError as error:  # 503
            if b"killed" in getattr(error, "fp", None).read():  # type: ignore[union-attr]
                return


async def test_a_worker_that_starts_killed_serves_nothing_until_it_may(
    services: ChildServices, unique: Unique, tmp_path: Path
) -> None:
    async with scene(services, unique("born-killed"), bom=one_judge_bom(tmp_path), roles=[]) as on:
        await switch(on, killed=True)
        await on.publish(*(draft(f"sku-{n}") for n in range(10)))
        await on.start("judge")
        with pytest.raises(TimeoutError):
            await on.until(lambda: bool(on.said(DraftVerdict)), timeout_s=0.5)
        await switch(on, killed=False)
        await on.until(lambda: len(on.said(ItemDecision)) == 10)


async def test_a_control_topic_that_cannot_be_understood_changes_nothing(
    services: ChildServices, unique: Unique, tmp_path: Path
) -> None:
    async with scene(services, unique("garbled"), bom=one_judge_bom(tmp_path), roles=[]) as on:
        await switch(on, killed=True)
        await on.put(CONTROL, b"\xff not a command", key="kill_switch")
        await on.start("judge")
        await on.publish(draft("sku-1"))
        with pytest.raises(TimeoutError):
            await on.until(lambda: bool(on.said(DraftVerdict)), timeout_s=0.5)
        await switch(on, killed=False)
        await on.until(lambda: bool(on.said(ItemDecision)))


async def test_a_worker_that_is_stopped_and_started_in_the_middle_loses_nothing(
    services: ChildServices, unique: Unique, tmp_path: Path
) -> None:
    bom = one_judge_bom(tmp_path, {"matches": ".", "reply": PASS, "latency_s": 0.02})
    few = {"concurrency": 10, "window": 20}
    # The embedded broker lets a newcomer wait for the session time-out of the one who left.
    quick = {"session_timeout_s": 2.5, "drain_timeout_s": 0.5}
    async with scene(services, unique("restart"), bom=bom, **few, **quick) as on:
        await on.publish(*(draft(f"sku-{n}", f"Kettle {n} of the restart.") for n in range(150)))
        for seen in (20, 60):
            await on.until(lambda: len(on.said(ItemDecision)) >= seen)  # noqa: B023 - called within the loop
            await on.stop("judge")
            await on.start("judge")
        await on.until(lambda: len({decision.item_id for decision in on.said(ItemDecision)}) == 150)
        ids = {decision.item_id: set[str]() for decision in on.said(ItemDecision)}
        for decision in on.said(ItemDecision):
            ids[decision.item_id].add(decision.event_id)
    assert {len(found) for found in ids.values()} == {1}


async def test_without_its_cache_a_worker_goes_on_says_so_and_counts_it(
    services: ChildServices, unique: Unique, tmp_path: Path
) -> None:
    cache = EmbeddedCache()
    bom = one_judge_bom(tmp_path, {"contains": "wrong", "reply": FAIL})
    async with scene(services, unique("cacheless"), bom=bom, redis=cache.url, roles=["judge"]) as on:
        await on.publish(draft("before"), draft("before-2"))
        await on.until(lambda: len(on.said(ItemDecision)) == 2)
        cache.close()
        await on.publish(*(draft(f"sku-{n}", f"Kettle {n}, and no cache.") for n in range(20)))
        await on.until(lambda: len(on.said(ItemDecision)) == 22)
        flags = {r.item_id: [f for v in r.verdicts for f in v.flags] for r in on.said(AttemptRecord)}
        metrics = await on.fetch("judge", "/metrics")
    assert flags.pop("before") == flags.pop("before-2") == []
    assert set(map(tuple, flags.values())) == {(Flag.CACHE_DOWN,)}
    assert 'assay_flags_total{flag="cache_down"} 20.0' in metrics
    assert 'assay_cache_lookups_total{criterion="c1_spec_accuracy",outcome="down"} 20.0' in metrics


async def test_a_port_that_is_taken_is_no_start(services: ChildServices, unique: Unique, tmp_path: Path) -> None:
    async with scene(services, unique("port"), bom=one_judge_bom(tmp_path), roles=["judge"]) as on:
        taken = on.port("judge")
        with pytest.raises(SettingsError, match=f"cannot listen on 127.0.0.1:{taken}"):
            await on.start("reflector", port=taken)
