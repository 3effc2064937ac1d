"""What the supervisor gives its children, and which ends it does not start again."""

from __future__ import annotations

import os
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
