"""Topics on a cluster: created, altered and left alone as the plan says."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from schemas.errors import DependencyUnavailable, SettingsError
from schemas.topics import TOPICS
from workers.embedded.services import ChildServices
from workers.runtime.connection import Connection
from workers.runtime.topic_admin import copies, topic_admin
from workers.runtime.topic_plan import Alter, Change, Create, plan, wanted

pytestmark = pytest.mark.anyio

Unique = Callable[[str], str]


def test_copies_are_as_asked_or_three_where_there_are_three() -> None:
    assert [copies(None, brokers=n) for n in (1, 2, 3, 5)] == [1, 1, 3, 3]
    assert copies(2, brokers=2) == 2
    with pytest.raises(SettingsError, match="3 copies need 3 brokers; this cluster has 1"):
        copies(3, brokers=1)


@pytest.mark.real
async def test_every_topic_of_the_table_is_created_once_and_then_left_alone(real_kafka: str, unique: Unique) -> None:
    topics = [wanted(row, unique("p") + ".") for row in TOPICS]
    names = [topic.name for topic in topics]
    async with topic_admin(Connection((real_kafka,))) as admin:
        first = plan(topics, await admin.existing(names), replication=1)
        await admin.apply(first)
        await admin.apply(first)  # somebody else was quicker
        assert plan(topics, await admin.existing(names), replication=1) == []
        assert await admin.brokers() >= 1
    assert [type(action) for action in first] == [Create] * len(TOPICS)


@pytest.mark.real
async def test_altering_keeps_what_an_operator_has_set(real_kafka: str, unique: Unique) -> None:
    name = unique("altered")
    async with topic_admin(Connection((real_kafka,))) as admin:
        await admin.apply([Create(name, 1, 1, {"retention.ms": "1000", "segment.bytes": "2000000"})])
        found = (await admin.existing([name]))[name]
        assert found.own == {"retention.ms": "1000", "segment.bytes": "2000000"}
        change = Change("retention.ms", "1000", "5000")
        await admin.apply([Alter(name, (change,), {**found.own, "retention.ms": "5000"})])
        assert (await admin.existing([name]))[name].own == {"retention.ms": "5000", "segment.bytes": "2000000"}


@pytest.mark.real
async def test_what_kafka_refuses_is_said_with_its_reason(real_kafka: str, unique: Unique) -> None:
    async with topic_admin(Connection((real_kafka,))) as admin:
        with pytest.raises(SettingsError, match=r"Kafka refuses to create .*replication factor"):
            await admin.apply([Create(unique("t"), 1, 9, {})])
        with pytest.raises(SettingsError, match=r"Kafka refuses to create .*: .*no.such.config"):
            await admin.apply([Create(unique("t"), 1, 1, {"no.such.config": "1"})])


async def test_the_embedded_broker_says_in_one_line_that_it_does_not(services: ChildServices) -> None:
    async def create() -> None:
        async with topic_admin(Connection((services.kafka,))) as admin:
            await admin.apply([Create("t", 1, 1, {})])

    with pytest.raises(
        DependencyUnavailable, match="it creates no topics: the embedded one has its topics from `assay up`"
    ):
        await create()


async def test_no_kafka_is_one_clear_line() -> None:
    async def ask() -> None:
        async with topic_admin(Connection(("127.0.0.1:1",))) as admin:
            await admin.brokers()

    with pytest.raises(DependencyUnavailable, match=r"no Kafka at 127.0.0.1:1"):
        await ask()
