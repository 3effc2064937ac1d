"""``assay publish`` on a broker without workers: what is told of the lines, and what is published of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from schemas.topics import DRAFTS
from tests.workers.cli.shell import assay, environ
from workers.embedded.services import ChildServices

LINE = '{"item_id": "a", "text": "t", "instruction": "i", "item_id": "b", "\\u001b[m": 1}\n'
GOOD = '{"item_id": "c", "text": "t", "context": {"instruction": "i"}}\n'


@pytest.fixture
def env(tmp_path: Path, services: ChildServices, unique: Callable[[str], str]) -> Mapping[str, str]:
    prefix = unique("publish") + "."
    services.create_topic(prefix + DRAFTS.name, 1)
    return environ(tmp_path, kafka=services.kafka, topic_prefix=prefix)


def published(env: Mapping[str, str]) -> list[str]:
    rows = assay("tail", "drafts", "--to-end", "--json", env=env).said.splitlines()
    return [json.loads(row)["key"] for row in rows]


def test_fields_that_nobody_reads_are_told_of_once_each(env: Mapping[str, str]) -> None:
    done = assay("publish", "-", env=env, stdin=(LINE + GOOD + LINE).encode())
    assert (done.code, done.said) == (0, "published 3 drafts\n")
    assert sorted(done.noted.splitlines()) == [
        "--strict refuses such lines",
        "field item_id is given twice; only the last one counts (2 drafts)",
        "unknown field \\x1b[m is ignored (2 drafts)",
        "unknown field instruction is ignored; did you mean context.instruction? (2 drafts)",
    ]
    assert published(env) == ["b", "c", "b"]


def test_strict_refuses_their_lines_and_publishes_the_others(env: Mapping[str, str]) -> None:
    done = assay("publish", "-", "--strict", env=env, stdin=(LINE + GOOD).encode())
    assert (done.code, done.said) == (1, "published 1 draft\n")
    (line,) = done.noted.splitlines()
    assert line.startswith("line 1: field item_id is given twice; only the last one counts; unknown field ")
    assert published(env) == ["c"]


def test_they_are_in_the_json_too(env: Mapping[str, str]) -> None:
    told = json.loads(assay("publish", "-", "--json", env=env, stdin=LINE.encode()).said)
    assert {"field": "instruction", "why": "unknown", "nearest": "context.instruction", "drafts": 1} in told["ignored"]
    assert (told["published"], told["refused"]) == (1, [])
