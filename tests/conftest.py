"""Fixtures that every test may use: the embedded services, one child process a session."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator

import pytest

from workers.embedded.services import ChildServices

pytest_plugins = ["tests.services.fixtures"]

_numbers = itertools.count()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def services() -> Iterator[ChildServices]:
    """Broker and cache for the whole session. A test that breaks the broker uses ``own_services``."""
    with ChildServices() as child:
        yield child


@pytest.fixture
def own_services() -> Iterator[ChildServices]:
    """Broker and cache of this test alone."""
    with ChildServices() as child:
        yield child


@pytest.fixture
def unique() -> Callable[[str], str]:
    """``unique("drafts")`` is a name no other test uses: for topics and groups on the shared broker."""
    return lambda name: f"{name}-{os.getpid()}-{next(_numbers)}"
