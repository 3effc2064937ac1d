"""Fixtures for tests that only a real server or browser can answer: given, else started here, else skipped.

In CI a skip is a failure: what those tests show must not go unshown quietly.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NoReturn

import pytest

from tests.services.chromium import why_no_chromium
from tests.services.jars import why_no_kafka
from tests.services.kafka import RealKafka
from tests.services.redis import RealRedis, why_no_redis


def unavailable(reason: str) -> NoReturn:
    """Skip with the reason; fail where CI runs."""
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(f"CI must have the real services: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def real_kafka() -> Iterator[str]:
    """Bootstrap servers of a real Kafka for the whole session. A test that breaks it uses ``own_kafka``."""
    given = os.environ.get("ASSAY_TEST_KAFKA")
    if given:
        yield given
        return
    _need(why_no_kafka())
    with RealKafka() as kafka:
        yield kafka.bootstrap


@pytest.fixture(scope="session")
def real_redis() -> Iterator[str]:
    """URL of a real Redis for the whole session. A test that breaks it uses ``own_redis``."""
    given = os.environ.get("ASSAY_TEST_REDIS")
    if given:
        yield given
        return
    _need(why_no_redis())
    with RealRedis() as redis:
        yield redis.url


@pytest.fixture
def own_kafka() -> Iterator[RealKafka]:
    """A one-node Kafka of this test alone: to be stopped, killed and started."""
    _need(why_no_kafka())
    with RealKafka() as kafka:
        yield kafka


@pytest.fixture(scope="module")
def module_kafka() -> Iterator[RealKafka]:
    """A one-node Kafka of this module: who stops or kills it starts it again."""
    _need(why_no_kafka())
    with RealKafka() as kafka:
        yield kafka


@pytest.fixture(scope="module")
def three_kafkas() -> Iterator[RealKafka]:
    """A cluster of three nodes of this module; every topic is on all three. Who kills one starts it again."""
    _need(why_no_kafka())
    with RealKafka(nodes=3) as kafka:
        yield kafka


@pytest.fixture(scope="module")
def secure_kafka() -> Iterator[RealKafka]:
    """A Kafka with a listener that wants TLS and a password."""
    _need(why_no_kafka())
    with RealKafka(secure=True) as kafka:
        yield kafka


@pytest.fixture(scope="module")
def secure_redis() -> Iterator[RealRedis]:
    """A Redis that wants TLS and a password."""
    _need(why_no_redis())
    with RealRedis(secure=True) as redis:
        yield redis


@pytest.fixture
def own_redis() -> Iterator[RealRedis]:
    """A Redis of this test alone: to be stopped, killed and started."""
    _need(why_no_redis())
    with RealRedis() as redis:
        yield redis


@pytest.fixture(scope="session")
def real_chromium() -> None:
    """A test that opens a ``tests.services.chromium.tab``."""
    _need(why_no_chromium())


def _need(missing: str | None) -> None:
    if missing is not None:
        unavailable(missing)
