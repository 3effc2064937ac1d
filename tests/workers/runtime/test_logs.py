"""One JSON line an event; no draft text, no secret, no control character gets out."""

from __future__ import annotations

import io
import json
import logging

import pytest

from schemas.errors import FatalError
from workers.runtime.logs import event, set_up


@pytest.fixture
def lines():
    root, ours = logging.getLogger(), logging.getLogger("assay")
    before = root.handlers[:], root.level, ours.level
    stream = io.StringIO()
    set_up("info", worker="judge", secrets=["hunter2", ""], stream=stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.handlers[:], level, ours_level = before
    root.setLevel(level)
    ours.setLevel(ours_level)


def test_an_event_is_one_line_with_its_fields(lines):
    event("partitions_assigned", partitions=3, topics="drafts")
    event("too_quiet", level=logging.DEBUG)
    (line,) = lines()
    assert {k: line[k] for k in ("level", "worker", "event", "partitions", "topics")} == {
        "level": "info", "worker": "judge", "event": "partitions_assigned", "partitions": 3, "topics": "drafts",
    }  # fmt: skip


def test_secrets_and_control_characters_do_not_get_out(lines, capsys):
    event("odd", reason="pass\x1b[31mword hunter2\nnext\u202e", size="x" * 10_000)
    (line,) = lines()
    assert line["reason"] == "pass\x1b[31mword ***\nnext\u202e"  # escaped on the wire: it is one line of ASCII
    assert len(line["size"]) == 500


def test_an_error_of_ours_says_why_and_a_foreign_one_only_where(lines):
    for error in (FatalError("cannot commit"), ValueError("the text of a draft")):
        try:
            raise error
        except (FatalError, ValueError) as caught:
            event("failed", error=caught)
    ours, foreign = lines()
    assert (ours["error"], ours["reason"]) == ("FatalError", "cannot commit")
    assert foreign["error"] == "ValueError"
    assert "test_logs.py" in foreign["where"]
    assert "draft" not in json.dumps(foreign)


def test_libraries_are_heard_from_warnings_on_only(lines):
    set_up("debug", worker="judge", stream=io.StringIO())
    assert logging.getLogger("aiokafka").getEffectiveLevel() == logging.WARNING  # its DEBUG lines hold values
