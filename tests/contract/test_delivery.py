"""Workers are killed, stopped and joined: nothing is lost, keys stay in order, little runs twice. On every broker."""

from __future__ import annotations

import asyncio
import signal

import pytest
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from tests.contract.scenario import KEYS, PARTITIONS, Scenario

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.real)])
def broker(request):
    return request.param


@pytest.fixture
async def scenario(broker, request, unique, tmp_path):
    kafka = request.getfixturevalue("services").kafka if broker == "embedded" else request.getfixturevalue("real_kafka")
    made = Scenario(kafka, unique, tmp_path)
    if broker == "embedded":
        for topic in (made.drafts, made.out):
            request.getfixturevalue("services").create_topic(topic, PARTITIONS)
    else:
        admin = AIOKafkaAdminClient(bootstrap_servers=kafka)
        await admin.start()
        await admin.create_topics([NewTopic(topic, PARTITIONS, 1) for topic in (made.drafts, made.out)])
        await admin.close()
    yield made
    made.close()


async def test_killed_twice_with_work_in_flight(scenario):
    count = 600
    await scenario.publish(count)
    for life in range(2):
        worker = scenario.start()
        await scenario.until_started(150 * (life + 1))
        await scenario.end(worker, signal.SIGKILL)
    scenario.start()
    run = await scenario.rest(await scenario.result(count))
    assert run.lost(count) == set()
    assert run.out_of_order == []
    # Each kill leaves at most what ran (40 keys) and what finished since the last commit.
    assert run.runs_again <= 2 * (KEYS + 60)


async def test_stopped_with_work_in_flight_runs_nothing_again(scenario):
    count = 400
    await scenario.publish(count)
    for life in range(2):
        worker = scenario.start()
        await scenario.until_started(120 * (life + 1))
        assert await scenario.end(worker) == 0
    scenario.start()
    run = await scenario.rest(await scenario.result(count))
    assert (run.lost(count), run.out_of_order, run.duplicates, run.runs_again) == (set(), [], 0, 0)


@pytest.mark.parametrize("broker", [pytest.param("real", marks=pytest.mark.real)], indirect=True)
async def test_a_second_worker_joins_and_leaves_and_nothing_runs_again(scenario):
    """Real only: the embedded broker refuses a follower that syncs after its leader, and commits in a rebalance."""
    scenario.start()
    await scenario.publish(count := 200)
    await scenario.until_started(50)
    second = scenario.start()
    async with asyncio.timeout(30):
        while len(scenario.pids()) < 2:  # drafts keep coming until both have had some
            await scenario.publish(KEYS, count)
            count += KEYS
            await asyncio.sleep(0.1)
    await scenario.publish(200, count)
    count += 200
    await scenario.until_started(count - 150)
    await scenario.end(second)
    run = await scenario.rest(await scenario.result(count))
    assert (run.lost(count), run.out_of_order, run.runs_again) == (set(), [], 0)


async def test_a_call_that_outlasts_the_session_blocks_nobody_and_is_not_run_twice(scenario):
    count = 200
    await scenario.publish(count)
    scenario.start(slow=3, slow_s=scenario.session_s + 1.5, hi=0.05)
    run = await scenario.result(count)
    run = await scenario.rest(run)
    assert (run.lost(count), run.out_of_order, run.runs_again) == (set(), [], 0)
