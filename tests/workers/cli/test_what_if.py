"""``assay plan what-if`` on a broker: the week's telemetry under other settings."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner, Result

from schemas.telemetry import AttemptRecord
from schemas.topics import TELEMETRY
from tests.workers.canary.specimens import BOM_FOLDER, example_bom
from tests.workers.stats_consumer.said import attempt
from workers.cli.main import app
from workers.embedded.services import ChildServices
from workers.hitl.records import publish
from workers.runtime.connection import Connection
from workers.runtime.naming import Names

AT = datetime(2026, 11, 25, 12, tzinfo=UTC)
CRITERIA = [criterion.id for criterion in example_bom().charter.criteria.must_have]


def judged(item: str, number: int, failed: str | None = None) -> AttemptRecord:
    labels = {criterion: "fail" if criterion == failed else "pass" for criterion in CRITERIA}
    return attempt(item, number, labels, at=AT, bom=example_bom().version)


@pytest.fixture
def run(services: ChildServices, unique: Callable[[str], str]) -> Callable[..., Result]:
    """Three rounds: passed at once; failed on the first criterion and mended; failed on the second and mended twice."""
    prefix = unique("whatif") + "."
    services.create_topic(prefix + TELEMETRY.name, 1)
    one, two = CRITERIA[:2]
    said = [
        judged("a", 0),
        *(judged("b", 0, one), judged("b", 1)),
        *(judged("c", 0, two), judged("c", 1, two), judged("c", 2)),
    ]
    asyncio.run(publish(Connection((services.kafka,)), Names(prefix), said, max_bytes=1_000_000, at=AT))
    env = {"ASSAY_KAFKA": services.kafka, "ASSAY_TOPIC_PREFIX": prefix, "ASSAY_BOM": str(BOM_FOLDER), "COLUMNS": "160"}
    return lambda *words: CliRunner().invoke(app, ["plan", "what-if", "--week", "2026-W48", *words], env=env)


def test_the_week_is_told_as_it_was_and_as_it_would_have_been(run: Callable[..., Result]) -> None:
    told = json.loads(run("--retries", "1", "--json").stdout)
    assert told["as_set"] == {"served_first_pass": 1, "served_after_revision": 2}
    assert told["what_if"] == {"served_first_pass": 1, "served_after_revision": 1, "dropped": 1}
    assert told["moved"] == [{"from": "served_after_revision", "to": "dropped", "rounds": 1}]
    shown = run("--enforce", CRITERIA[0]).stdout
    assert "2 (66.7%)" in shown  # a and c at once, b after a revision
    assert "1: served_after_revision -> served_first_pass" in shown


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--pass-at", "nope=3"], "criteria with a scale"),
        (["--enforce", "nope"], "must-have criteria are"),
    ],
)
def test_what_cannot_be_changed_is_refused_with_what_can(
    run: Callable[..., Result], words: list[str], told: str
) -> None:
    refused = run(*words)
    assert refused.exit_code == 2
    assert told in refused.output


def test_a_week_without_telemetry_is_told(run: Callable[..., Result]) -> None:
    assert run("--week", "2026-W40").exit_code == 1
