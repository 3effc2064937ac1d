"""``assay up`` and the commands beside it, each a process of its own, as in two terminals."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.workers.cli.shell import ROOT, Up, assay, environ, up
from workers.roles import ROLES

DRAFTS = ROOT / "examples" / "drafts.jsonl"
LINE = {"item_id": "a", "text": "t", "context": {"instruction": "i"}}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def running(home: Path) -> Iterator[Up]:
    with up(home, session_timeout_s=3, drain_timeout_s=1) as running:
        yield running
    assert running.process.returncode == 0
    assert running.gone()


@pytest.fixture
def env(home: Path, running: Up) -> Mapping[str, str]:
    return environ(home)


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def verdict_ids(env: Mapping[str, str], items: set[str], *, timeout_s: float = 30.0) -> dict[str, set[str]]:
    """Wait until each item has a verdict; the event ids of the verdicts of each."""
    deadline = time.monotonic() + timeout_s
    while True:
        found: dict[str, set[str]] = {}
        for row in rows(assay("tail", "verdicts", "--to-end", "--json", env=env).said):
            found.setdefault(row["key"], set()).add(row["value"]["event_id"])
        if items <= found.keys():
            return {item: found[item] for item in items}
        assert time.monotonic() < deadline, items - found.keys()


def test_a_draft_is_published_served_and_traced(env: Mapping[str, str]) -> None:
    done = assay("publish", DRAFTS, env=env)
    assert (done.code, done.said, done.noted) == (0, "published 3 drafts\n", "")
    verdict_ids(env, {"mug-1"})
    served = rows(assay("tail", "served", "--to-end", "--json", env=env).said)
    assert "mug-1" in {row["key"] for row in served}
    traced = assay("trace", "mug-1", env=env)
    assert (traced.code, traced.noted) == (0, "")
    assert "decision: served_first_pass at attempt 0" in traced.said
    assert max(map(len, traced.said.splitlines())) <= 80
    story = json.loads(assay("trace", "mug-1", "--json", env=env).said)
    assert story["rounds"][0]["decisions"][0]["decision"] == "served_first_pass"
    nobody = assay("trace", "nobody", env=env)
    assert (nobody.code, nobody.one_line) == (1, "no record of item 'nobody' on the topics")


def test_the_topics_prove_what_was_done(env: Mapping[str, str]) -> None:
    proved = assay("prove", "--json", env=env)
    document = json.loads(proved.said)
    assert (proved.code, document["holds"], proved.noted) == (0, True, "")
    assert {claim["claim"]: claim["checked"] for claim in document["claims"]}["shown was passed"] >= 1
    shown = assay("prove", env=env)
    assert (shown.code, shown.said.splitlines()[-1]) == (0, "Every claim holds.")


def test_a_second_up_on_embedded_services_does_not_start_and_leaves_the_first_one_alone(
    env: Mapping[str, str], running: Up
) -> None:
    done = assay("up", env=env)
    assert done.code == 3
    assert f"runs already (pid {running.process.pid}, embedded broker at 127.0.0.1:" in done.one_line
    assert assay("control", "status", env=env).code == 0


def test_lines_that_are_no_drafts_are_named_and_the_others_go_on(env: Mapping[str, str]) -> None:
    revision = {**LINE, "attempt": 1}
    lines = [json.dumps({**LINE, "item_id": "piped"}), "no json", '{"item_id": 5}', "", "[1]", json.dumps(revision)]
    done = assay("publish", "-", env=env, stdin="\n".join(lines).encode() + b"\n\xff\n")
    assert (done.code, done.said) == (1, "published 1 draft\n")
    assert [line.split(": ")[:2] for line in done.noted.splitlines()] == [
        ["line 2", "not_json"],
        ["line 3", "bad_schema"],
        ["line 5", "bad_schema"],
        ["line 6", "bad_attempt"],
        ["line 7", "not_json"],
    ]
    as_json = json.loads(assay("publish", "-", "--json", env=env, stdin=b"no json").said)
    assert (as_json["published"], as_json["refused"][0]["line"]) == (0, 1)


@pytest.mark.parametrize("name", ["drafts.csv", "DRAFTS.CSV"])
def test_a_csv_is_known_by_its_ending(env: Mapping[str, str], tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(
        'item_id,text,instruction\nc1,hello,write\nc2,"two\nlines",write\nc3,too,many,fields\n'
    )
    done = assay("publish", tmp_path / name, env=env)
    assert (done.code, done.said) == (1, "published 2 drafts\n")
    assert done.noted == "line 5: the row has another number of fields than the header\n"


def test_an_empty_file_and_a_binary_one(env: Mapping[str, str], tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    done = assay("publish", tmp_path / "empty", env=env)
    assert (done.code, done.said, done.noted) == (0, "published 0 drafts\n", "there was no line to publish\n")
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 200)
    done = assay("publish", tmp_path / "binary", env=env)
    assert (done.code, done.said) == (1, "published 0 drafts\n")
    assert len(done.noted.splitlines()) == 21
    assert done.noted.splitlines()[-1] == "... and 181 more lines"
    for wrong, why in ((tmp_path, "Is a directory"), (tmp_path / "none", "No such file or directory")):
        done = assay("publish", wrong, env=env)
        assert (done.code, done.one_line) == (2, f"{wrong} cannot be read: {why}")


def test_the_kill_switch_from_another_terminal(env: Mapping[str, str], running: Up) -> None:
    assert assay("control", "status", env=env).said == "running\n"
    killed = assay("control", "kill", "--operator", "ada", "--reason", "bad news", env=env)
    assert (killed.code, killed.said) == (0, "killed by ada: bad news\n")
    running.wait_for('"event": "held"', times=2)
    state = json.loads(assay("control", "status", "--json", env=env).said)
    assert state == {"killed": True, "by": "ada", "reason": "bad news"}
    assert assay("publish", "-", env=env, stdin=json.dumps({**LINE, "item_id": "waits"}).encode()).code == 0
    assert assay("trace", "waits", env=env).said.count("no decision yet") == 1
    assert assay("control", "resume", "--operator", "ada", "--reason", "over", env=env).said == "running\n"
    verdict_ids(env, {"waits"})


def test_a_worker_that_was_killed_is_started_again_and_loses_nothing(env: Mapping[str, str], running: Up) -> None:
    items = [{**LINE, "item_id": f"k-{n}", "text": f"Text {n}."} for n in range(50)]
    lines = "\n".join(map(json.dumps, items)).encode()
    os.kill(running.worker("judge"), signal.SIGKILL)
    assert assay("publish", "-", env=env, stdin=lines).said == "published 50 drafts\n"
    running.wait_for("judge ended with code -9; starting it again in 1 s")
    ids = verdict_ids(env, {str(item["item_id"]) for item in items})
    assert {len(found) for found in ids.values()} == {1}


@pytest.mark.parametrize("how", ["Ctrl-C", "SIGKILL"])
def test_it_leaves_no_orphan_however_it_ends(tmp_path: Path, how: str) -> None:
    with up(tmp_path) as running:
        assert len(running.family()) == 2 + len(ROLES)  # itself, the services, and the workers
        if how == "Ctrl-C":
            os.killpg(running.process.pid, signal.SIGINT)  # a terminal signals the whole foreground group
        else:
            running.process.kill()
        assert running.process.wait(20) == (-9 if how == "SIGKILL" else 0)
        assert running.gone()
        log = running.log.read_text()
    assert log.count('"event": "goodbye"') == len(ROLES)
    assert "Traceback" not in log
    told = assay("control", "status", env=environ(tmp_path))
    assert (told.code, told.one_line[:9]) == (3, "no Kafka:")


def test_it_ends_when_its_broker_and_cache_die(tmp_path: Path) -> None:
    with up(tmp_path) as running:
        os.kill(running.services(), signal.SIGKILL)
        assert running.process.wait(20) == 3
        assert running.gone()
    said = [line for line in running.log.read_text().splitlines() if not line.startswith("{")]
    assert said.count("the embedded broker and cache ended with code -9: their records are gone") == 1
    assert "Traceback" not in running.log.read_text()
