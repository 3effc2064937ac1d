"""The pump over a group in memory and a real producer: what is in flight, what is committed, what runs again."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise

import pytest
from aiokafka import AIOKafkaConsumer

from schemas.errors import FatalError, TooManyDeadLetters
from tests.workers.runtime.group import Group, drafts, record
from workers.runtime.connection import Connection
from workers.runtime.offsets import Committed
from workers.runtime.producing import ConfirmedProducer
from workers.runtime.pump import Pump
from workers.runtime.pump_state import PumpOptions
from workers.runtime.records import OutRecord
from workers.runtime.slots import BEGUN_TOGETHER

pytestmark = pytest.mark.anyio


class Handler:
    """Records what runs; waits while ``gate`` is closed; answers with one record."""

    def __init__(self, topic):
        self.topic, self.started, self.finished = topic, [], []
        self.running = self.most = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.slow = {}  # offset -> event
        self.busy_s = 0.0

    async def __call__(self, record):
        self.started.append(record.offset)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await self.gate.wait()
            time.sleep(self.busy_s)  # noqa: ASYNC251 - as judging by rules does, without waiting for anything
            if record.offset in self.slow:
                await self.slow[record.offset].wait()
        finally:
            self.running -= 1
        self.finished.append(record.offset)
        return [OutRecord(self.topic, record.key, record.value)]


class LateNews(ConfirmedProducer):
    """Kafka has the outputs at once and says so 0.3 s later, as a loaded one does."""

    async def send(self, outs, confirmed):
        loop = asyncio.get_running_loop()
        await super().send(outs, lambda error: loop.call_later(0.3, confirmed, error))


@pytest.fixture
async def topic(services, unique):
    name = unique("out")
    services.create_topic(name, 1)
    return name


@pytest.fixture
async def world(services, topic):
    """A pump that owns drafts/0, its handler and its group."""
    producer = ConfirmedProducer(Connection((services.kafka,)), max_message_bytes=5_000)
    await producer.start()
    handler, group = Handler(topic), Group()
    pumps = []

    async def pump(committed=None, **options):
        defaults = {"concurrency": 50, "window": 100, "commit_interval_s": 0.01, "drain_timeout_s": 1.0}
        made = Pump(
            handler, producer, oversize=lambda r, _: [OutRecord(topic, r.key, b"too large")],
            options=PumpOptions(**defaults | options),
        )  # fmt: skip
        made.start(group)
        pumps.append(made)
        await assign(made, group)
        return made

    yield pump, handler, group
    for made in pumps:
        await made.stop()
    await producer.stop()


async def assign(pump, group, *partitions):
    group.mine = set(partitions or [drafts()])
    await pump.on_partitions_assigned(group.mine)


async def until(condition, timeout_s=5.0):
    async with asyncio.timeout(timeout_s):
        while not condition():  # noqa: ASYNC110 - what is waited for is the pump's inside
            await asyncio.sleep(0.005)


async def produced(services, topic, count):
    async with AIOKafkaConsumer(
        topic, bootstrap_servers=services.kafka, auto_offset_reset="earliest", fetch_max_wait_ms=10
    ) as consumer:
        values = [(await asyncio.wait_for(consumer.getone(), 5)).value for _ in range(count)]
        more = await consumer.getmany(timeout_ms=50)
    assert not more, "more outputs than expected"
    return values


async def test_every_record_is_produced_and_the_commit_follows(services, topic, world):
    make, _, group = world
    pump = await make()
    await pump.deliver([record(n, b"k%d" % n) for n in range(60)])
    await asyncio.wait_for(pump.idle(), 10)
    assert group.stored[drafts()] == Committed(60, "")
    assert sorted(await produced(services, topic, 60)) == sorted(b"%d" % n for n in range(60))
    assert (pump.counts.admitted, pump.counts.done) == (60, 60)


async def test_records_that_were_answered_together_do_not_all_begin_together_again(world):
    make, handler, _ = world
    pump = await make(concurrency=100, window=300)
    handler.gate.clear()
    await pump.deliver([record(n, b"k%d" % n) for n in range(200)])
    await until(lambda: handler.running == 100)
    begun = [100]

    def look():  # once in every round of the loop
        begun.append(len(handler.started))
        if begun[-1] < 200:
            asyncio.get_running_loop().call_soon(look)

    handler.slow = {offset: asyncio.Event() for offset in range(100, 200)}
    handler.gate.set()
    look()
    await until(lambda: handler.running == 100 and len(handler.finished) == 100)
    for answer in handler.slow.values():
        answer.set()
    await asyncio.wait_for(pump.idle(), 10)
    # Some go on in old slots, as many begin in new ones; without a limit it would be a hundred in one round.
    assert max(after - before for before, after in pairwise(begun)) <= 2 * BEGUN_TOGETHER


async def test_a_slow_record_delays_its_key_and_nobody_else(world):
    make, handler, group = world
    pump = await make()
    handler.slow[0] = asyncio.Event()
    await pump.deliver([record(0, b"a"), record(1, b"a"), *(record(n, b"k%d" % n) for n in range(2, 40))])
    await until(lambda: len(handler.finished) == 38)
    assert handler.started.count(1) == 0
    await until(lambda: group.stored.get(drafts(), Committed(-1, "")).metadata != "")
    assert group.stored[drafts()].offset == 0
    handler.slow[0].set()
    await asyncio.wait_for(pump.idle(), 10)
    assert group.stored[drafts()] == Committed(40, "")


async def test_a_crash_runs_only_what_the_metadata_does_not_know(world):
    make, handler, _group = world
    first = await make()
    handler.slow[0] = asyncio.Event()
    batch = [record(n, b"k%d" % n) for n in range(30)]
    await first.deliver(batch)
    await until(lambda: len(handler.finished) == 29)
    await until(lambda: first.counts.commits > 0 and len(first._lanes) == 1)
    await asyncio.sleep(0.03)
    handler.slow.clear()
    handler.started.clear()
    second = await make()  # the first one is simply gone: nothing was told to it
    await second.deliver(batch)
    await asyncio.wait_for(second.idle(), 10)
    assert handler.started == [0]
    assert second.counts.skipped == 29


async def test_never_more_than_concurrency_run_and_the_window_pauses_reading(world):
    make, handler, group = world
    pump = await make(concurrency=7, window=20)
    handler.gate.clear()
    await pump.deliver([record(n) for n in range(15)])
    assert group.paused() == set()
    await pump.deliver([record(n) for n in range(15, 30)])  # the overshoot of one batch
    assert group.paused() == {drafts()}
    await until(lambda: handler.running == 7)
    handler.gate.set()
    await until(lambda: group.paused() == set())
    await asyncio.wait_for(pump.idle(), 10)
    assert handler.most == 7


async def test_a_full_pump_stays_paused_through_a_rebalance(world):
    make, handler, group = world
    pump = await make(window=10, concurrency=5)
    handler.gate.clear()
    await assign(pump, group, drafts(0), drafts(1))
    await pump.deliver([record(n, partition=1) for n in range(12)])
    group.stopped.clear()  # a new assignment starts unpaused in aiokafka
    await assign(pump, group, drafts(0), drafts(1))
    assert group.paused() == {drafts(0), drafts(1)}
    handler.gate.set()


async def test_a_crowded_partition_is_paused_alone(world, monkeypatch):
    monkeypatch.setattr("workers.runtime.tracker.SPAN_CAP", 50)
    make, handler, group = world
    pump = await make()
    await assign(pump, group, drafts(0), drafts(1))
    handler.slow[0] = asyncio.Event()
    await pump.deliver([record(n) for n in range(60)])
    await until(lambda: group.paused() == {drafts(0)})
    handler.slow[0].set()
    await until(lambda: group.paused() == set())


async def test_records_that_come_before_the_restore_wait_for_it(world):
    make, handler, group = world
    pump = await make()
    await pump.on_partitions_revoked([drafts()])
    group.answers.clear()
    assigning = asyncio.create_task(assign(pump, group))
    delivering = asyncio.create_task(pump.deliver([record(0)]))
    await asyncio.sleep(0.03)
    assert handler.started == []
    group.answers.set()
    await asyncio.gather(assigning, delivering)
    await asyncio.wait_for(pump.idle(), 10)
    assert handler.started == [0]


async def test_a_batch_that_was_read_before_a_rebalance_is_dropped(world):
    """Admitting it would take what comes before it for a gap, and commit past it."""
    make, handler, group = world
    pump = await make()
    await pump.on_partitions_revoked([drafts()])
    delivering = asyncio.create_task(pump.deliver([record(50)]))
    await asyncio.sleep(0)
    await pump.on_partitions_revoked([])
    await assign(pump, group)
    await delivering
    await pump.deliver([record(0)])
    await asyncio.wait_for(pump.idle(), 10)
    assert handler.started == [0]
    assert group.stored[drafts()].offset == 1


async def test_revocation_drops_what_waits_lets_the_rest_finish_and_commits(services, topic, world):
    make, handler, group = world
    pump = await make(concurrency=2)
    handler.gate.clear()
    await pump.deliver([record(n) for n in range(10)])
    await until(lambda: handler.running == 2)
    revoking = asyncio.create_task(pump.on_partitions_revoked([drafts()]))
    await asyncio.sleep(0.02)
    handler.gate.set()
    await revoking
    assert handler.started == [0, 1]
    assert group.stored[drafts()].offset == 2
    assert pump.counts.dropped == 8
    assert await produced(services, topic, 2) == [b"0", b"1"]


async def test_what_takes_longer_than_the_drain_is_cancelled_and_left_to_the_new_owner(services, topic, world):
    make, handler, group = world
    pump = await make(drain_timeout_s=0.05)
    handler.slow[0] = asyncio.Event()
    await pump.deliver([record(0), record(1)])
    await until(lambda: handler.finished == [1])
    await pump.on_partitions_revoked([drafts()])
    handler.slow[0].set()
    await assign(pump, group)
    handler.started.clear()
    await pump.deliver([record(0), record(1)])
    await asyncio.wait_for(pump.idle(), 10)
    assert handler.started == [0]
    assert sorted(await produced(services, topic, 2)) == [b"0", b"1"]


async def test_what_kafka_has_been_handed_before_the_drain_ended_is_committed_and_not_produced_again(
    services, topic, world
):
    _, handler, group = world
    slow = LateNews(Connection((services.kafka,)), max_message_bytes=5_000)
    await slow.start()
    pump = Pump(handler, slow, oversize=lambda *_: [], options=PumpOptions(drain_timeout_s=0.05))
    pump.start(group)
    await assign(pump, group)
    await pump.deliver([record(number) for number in range(3)])
    await until(lambda: len(handler.finished) == 3)
    await pump.stop()
    await slow.stop()
    assert group.stored[drafts()].offset == 3
    assert await produced(services, topic, 3) == [b"0", b"1", b"2"]


async def test_dead_letters_that_were_handed_to_kafka_before_their_limit_are_committed_and_not_written_again(
    services, topic, world
):
    _, handler, group = world
    slow = LateNews(Connection((services.kafka,)), max_message_bytes=5_000)
    await slow.start()
    pump = Pump(handler, slow, oversize=lambda *_: [])
    pump.start(group)
    await assign(pump, group)
    await pump.deliver([record(number) for number in range(3)])
    await until(lambda: len(handler.finished) == 3)
    pump.fail(TooManyDeadLetters("3 in a row"))
    await pump.stop()
    await slow.stop()
    assert group.stored[drafts()].offset == 3


async def test_while_killed_nothing_is_served_and_after_release_everything_is(services, topic, world):
    make, handler, group = world
    pump = await make()
    handler.gate.clear()
    await pump.deliver([record(n, b"k") for n in range(3)])
    await until(lambda: handler.running == 1)
    pump.hold()
    assert group.paused() == {drafts()}
    handler.gate.set()
    await until(lambda: pump.counts.discarded == 1)
    await asyncio.sleep(0.03)
    assert group.stored == {}
    pump.release()
    await asyncio.wait_for(pump.idle(), 10)
    assert handler.started == [0, 0, 1, 2]
    assert await produced(services, topic, 3) == [b"0", b"1", b"2"]
    assert group.paused() == set()


async def test_a_result_from_before_a_short_hold_is_thrown_away_too(world):
    make, handler, _group = world
    pump = await make()
    handler.gate.clear()
    await pump.deliver([record(0)])
    await until(lambda: handler.running == 1)
    pump.hold()
    pump.release()
    handler.gate.set()
    await asyncio.wait_for(pump.idle(), 10)
    assert handler.started == [0, 0]


async def test_stopping_drains_commits_and_takes_nothing_more(world):
    make, handler, group = world
    pump = await make(concurrency=3)
    handler.gate.clear()
    await pump.deliver([record(n) for n in range(9)])
    await until(lambda: handler.running == 3)
    stopping = asyncio.create_task(pump.stop())
    await asyncio.sleep(0.02)
    assert group.paused() == {drafts()}
    handler.gate.set()
    await stopping
    await pump.deliver([record(9)])
    assert handler.started == [0, 1, 2]
    assert group.stored[drafts()].offset == 3


async def test_a_refused_commit_comes_again(world):
    make, _, group = world
    pump = await make()
    group.refuse = "rebalancing"
    await pump.deliver([record(0)])
    await until(lambda: pump.counts.commits_refused > 2)
    assert group.stored == {}
    group.refuse = None
    await asyncio.wait_for(pump.idle(), 10)
    assert group.stored[drafts()].offset == 1


async def test_an_output_that_is_too_large_is_answered_with_something_else(services, topic, world):
    make, _, _ = world
    pump = await make()
    await pump.deliver([record(0)._replace(value=b"x" * 6_000), record(1)])
    await asyncio.wait_for(pump.idle(), 10)
    assert sorted(await produced(services, topic, 2)) == [b"1", b"too large"]
    assert pump.counts.oversize == 1


async def test_an_unexpected_error_stops_everything_and_commits_nothing_of_it(world):
    make, handler, group = world
    pump = await make()

    handler.slow = {0: None}  # None.wait(): an AttributeError inside the handler
    await pump.deliver([record(0), record(1)])
    await asyncio.wait_for(pump.failed.wait(), 5)
    assert isinstance(pump.error, AttributeError)
    assert group.paused() == {drafts()}
    await pump.stop()
    assert group.stored.get(drafts(), Committed(0, "")).offset == 0


async def test_a_record_of_a_partition_that_is_not_assigned_is_refused(world):
    make, _, _ = world
    pump = await make()
    with pytest.raises(FatalError, match="drafts/7 was delivered, which is not assigned"):
        await pump.deliver([record(0, partition=7)])


async def test_a_partition_without_progress_ends_the_process(world):
    make, handler, _ = world
    pump = await make(stall_timeout_s=0.1)
    handler.slow[0] = asyncio.Event()
    await pump.deliver([record(0), *(record(n) for n in range(1, 20))])
    await asyncio.wait_for(pump.failed.wait(), 5)
    assert "drafts/0 made no progress" in str(pump.error)


async def test_a_held_pump_is_not_stuck(world):
    make, handler, _ = world
    pump = await make(stall_timeout_s=0.1)
    handler.gate.clear()
    await pump.deliver([record(0)])
    pump.hold()
    await asyncio.sleep(0.3)
    assert pump.error is None


async def test_commits_that_never_pass_end_the_process(world):
    make, _, group = world
    pump = await make(stall_timeout_s=0.1)
    group.refuse = "for ever"
    await pump.deliver([record(0)])
    await asyncio.wait_for(pump.failed.wait(), 5)
    assert "no commit passed" in str(pump.error)


async def test_records_that_need_no_waiting_let_the_event_loop_go_round_all_the_same(world):
    pump, handler, _ = world
    longest = last = 0.0

    async def watch():
        nonlocal longest, last
        last = time.monotonic()
        while True:
            await asyncio.sleep(0)
            now = time.monotonic()
            longest, last = max(longest, now - last), now

    made = await pump()
    await made.deliver([record(0)])
    await until(lambda: made.counts.done == 1)
    handler.busy_s = 0.003
    watching = asyncio.create_task(watch())
    await made.deliver([record(offset) for offset in range(1, 100)])
    await until(lambda: made.counts.done == 100)
    watching.cancel()
    assert longest < 0.2, "0.3 s in all"
    assert handler.finished == sorted(handler.finished)


async def test_what_waits_behind_the_kill_switch_is_told_though_nothing_is_fetched(world):
    make, _, group = world
    pump = await make(look_ahead_s=0.02)
    group.ends[drafts()] = 5
    await pump.deliver([record(n) for n in range(5)])
    await asyncio.wait_for(pump.idle(), 10)
    pump.hold()
    group.newest[drafts()] = 12
    await until(lambda: pump.state.lag == 7)


async def test_the_lag_and_the_age_of_the_oldest_record_are_told(world):
    make, handler, group = world
    pump = await make()
    group.ends[drafts()] = 100
    handler.slow[5] = asyncio.Event()
    await pump.deliver([record(n) for n in range(10)])
    await until(lambda: pump.state.oldest_s > 0.05)
    assert (pump.state.lag, pump.state.in_memory, pump.state.partitions) == (95, 1, 1)
    handler.slow[5].set()
