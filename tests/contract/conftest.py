"""The two clusters that the contract holds on: the embedded broker always, a real Kafka wherever there is one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

import pytest

from workers.runtime.connection import Connection
from workers.runtime.topic_admin import topic_admin
from workers.runtime.topic_plan import Create

Unique = Callable[[str], str]


class Cluster(NamedTuple):
    """A Kafka to connect to, and how topics come into being on it."""

    kafka: Connection
    create: Callable[[str, int], Awaitable[None]]


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.real)])
def cluster(request: pytest.FixtureRequest) -> Cluster:
    """The same test on both. What only a real broker can answer takes ``real_cluster``."""
    return _real(request) if request.param == "real" else _embedded(request)


@pytest.fixture
def real_cluster(request: pytest.FixtureRequest) -> Cluster:
    return _real(request)


def _real(request: pytest.FixtureRequest) -> Cluster:
    kafka = Connection((request.getfixturevalue("real_kafka"),))

    async def create(name: str, partitions: int) -> None:
        async with topic_admin(kafka) as admin:
            await admin.apply([Create(name, partitions, 1, {})])

    return Cluster(kafka, create)


def _embedded(request: pytest.FixtureRequest) -> Cluster:
    services = request.getfixturevalue("services")

    async def create(name: str, partitions: int) -> None:
        services.create_topic(name, partitions)

    return Cluster(Connection((services.kafka,)), create)
