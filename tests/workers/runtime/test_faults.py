"""What only the embedded broker can be told to do: refuse commits, forget members, go away."""

from __future__ import annotations

import asyncio

import pytest

from tests.contract.scenario import PARTITIONS, Scenario

pytestmark = pytest.mark.anyio


def on(services, unique, folder):
    made = Scenario(services.kafka, unique, folder)
    for topic in (made.drafts, made.out):
        services.create_topic(topic, PARTITIONS)
    return made


async def test_commits_are_refused_and_heartbeats_fail(own_services, unique, tmp_path):
    scenario = on(own_services, unique, tmp_path)
    try:
        count = 400
        await scenario.publish(count)
        worker = scenario.start()
        await scenario.until_started(100)
        own_services.push_errors("OffsetCommit", [25, 27, 14, 7])
        own_services.push_errors("Heartbeat", [27])
        run = await scenario.result(count)
        own_services.push_errors("OffsetCommit", [27])
        assert await scenario.end(worker) == 0
        scenario.start()
        await scenario.publish(40, count)
        run = await scenario.rest(await scenario.result(count + 40))
        assert (run.lost(count + 40), run.out_of_order) == (set(), [])
    finally:
        scenario.close()


async def test_kafka_goes_away_and_comes_back(own_services, unique, tmp_path):
    scenario = on(own_services, unique, tmp_path)
    try:
        count = 300
        await scenario.publish(count)
        worker = scenario.start()
        await scenario.until_started(80)
        own_services.broker_down(1)
        await asyncio.sleep(1.5)
        own_services.broker_up(1)
        run = await scenario.result(count)
        assert worker.poll() is None
        run = await scenario.rest(run)
        assert (run.lost(count), run.out_of_order) == (set(), [])
    finally:
        scenario.close()
