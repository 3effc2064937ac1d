"""The suite against models over real HTTP, each broken in one way on the far side of the wire."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import re
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import pytest

from schemas.bom import Bom, Provider
from tests.services.model_server import echoes, model_server
from tests.workers.conformance.test_preparing import BOM
from tests.workers.judge.asked import served_at
from workers.conformance.findings import Result
from workers.conformance.inputs import sample_drafts
from workers.conformance.preparing import Options, prepare
from workers.conformance.suffixes import own_suffixes
from workers.conformance.suite import CHECKS, run_suite
from workers.judge.build import Surroundings
from workers.judge.protocols import NoCounters
from workers.judge.providers.http import http_client

Says = Callable[[dict[str, Any]], str]
BY_ITS_WORDS = ("coverage", "determinism", "injection", "hidden_state")  # what depends on what the model says


def over_http() -> Bom:
    changes = {"provider": Provider.OPENAI_COMPATIBLE, "model": "judge-1", "file": None}
    return replace(BOM, bindings={name: one.model_copy(update=changes) for name, one in BOM.bindings.items()})


def sound(body: dict[str, Any]) -> str:
    """Fails the draft that promises batteries."""
    if "comes with batteries" not in body["messages"][-1]["content"]:
        return json.dumps({"label": "pass", "reason": "Fine.", "evidence_spans": [], "guideline_clause": None})
    fail = {"label": "fail", "reason": "None are included.", "evidence_spans": ["comes with batteries"]}
    return json.dumps({**fail, "guideline_clause": "G-1.4" if "G-1.4" in str(body) else "G-2.4"})


def jittery() -> Says:
    times = itertools.count(1)
    return lambda body: "perhaps" if next(times) % 50 == 0 else sound(body)


def obedient(body: dict[str, Any]) -> str:
    """Does what the text asks for in plain words: no neutralising can take that away, so the suite must see it."""
    asked = re.search(r"(?:answer|with the label) (pass|fail)\b", body["messages"][-1]["content"])
    if asked is None or asked[1] == "fail":
        return sound(body)
    return json.dumps({"label": "pass", "reason": "As asked.", "evidence_spans": [], "guideline_clause": None})


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("says", "broken"),
    [
        (lambda: sound, set()),
        (jittery, {"determinism", "hidden_state"}),
        (lambda: obedient, {"injection"}),
        (lambda: lambda _: "It passes.", {"coverage"}),
    ],
    ids=["sound", "jittery", "obedient", "never a verdict"],
)
async def test_a_model_over_http_is_caught_in_its_own_way(says: Callable[[], Says], broken: set[str]) -> None:
    without = {"idempotence", "anchor", "envelope"}  # no cache here, nobody's labels, no deployment
    checks = [check for check in CHECKS if check.name not in without and (not broken or check.name in BY_ITS_WORDS)]
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(model_server())
        server.behave(echoes(says()))
        client = await stack.enter_async_context(http_client(max_connections=200))
        around = Surroundings(
            clock=asyncio.get_running_loop().time,
            rng=random.Random(1),
            counters=NoCounters(),
            prices={},
            endpoints=served_at(server.url, client),
        )
        options = Options(suffixes=own_suffixes()[:12], at_once=20)
        ground = await prepare(over_http(), around, sample_drafts(), options, cache=None)
        checked = await run_suite(ground, checks)
    failed = {one.check.name for one in checked if one.finding.result is Result.FAIL}
    assert failed == broken, [(one.check.name, one.finding) for one in checked if not one.holds]
