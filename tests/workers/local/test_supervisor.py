"""What the supervisor gives its children, and which ends it does not start again."""

from __future__ import annotations

import itertools
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from workers.local.supervisor import Supervisor


def python(code: str) -> Sequence[str]:
    return [sys.executable, "-S", "-c", code]


def test_a_child_has_its_own_words_in_its_environment_beside_those_of_all(tmp_path: Path) -> None:
    write = (
        f"import os, pathlib; p = pathlib.Path({str(tmp_path)!r}, os.environ['NAME']);"
        "p.write_text(os.environ['PORT'] + os.environ['ALL']); raise SystemExit(2)"
    )
    supervisor = Supervisor(
        {"a": python(write)}, {**os.environ, "ALL": "x", "PORT": "0"}, grace_s=5, say=lambda _: None,
        own={"a": {"NAME": "a", "PORT": "7"}, "b": {"PORT": "8"}},
    )  # fmt: skip
    assert supervisor.run() == 2
    assert (tmp_path / "a").read_text() == "7x"


@pytest.mark.parametrize("code", [2, 3, 4])
def test_an_end_that_starting_again_does_not_mend_ends_all(code: int) -> None:
    said: list[str] = []
    commands = {"judge": python(f"raise SystemExit({code})"), "stats": python("import time; time.sleep(60)")}
    assert Supervisor(commands, os.environ, grace_s=5, say=said.append).run() == code
    assert said == [f"judge ended with code {code}"]


def test_a_child_that_met_the_dead_letter_limit_is_not_started_again_and_the_others_go_on(tmp_path: Path) -> None:
    starts = f"with open({str(tmp_path / 'starts')!r}, 'a') as file: file.write('x')\nraise SystemExit(6)"
    said: list[str] = []
    polls = itertools.count()

    def lost() -> str | None:
        if len(said) == 1 and next(polls) > 7:  # longer than the first pause before a new start
            os.kill(os.getpid(), signal.SIGTERM)
        return None

    commands = {"judge": python(starts), "stats": python("import time; time.sleep(60)")}
    assert Supervisor(commands, os.environ, grace_s=5, say=said.append, lost=lost).run() == 6
    assert said == ["judge ended with code 6 and is not started again; all others go on. Stop with Ctrl-C."]
    assert (tmp_path / "starts").read_text() == "x"
