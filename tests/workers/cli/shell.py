"""The command as a user has it: a process of its own, piped, 80 columns wide."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from typer.testing import CliRunner

from workers.cli.main import app
from workers.roles import ROLES

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "workers.cli.start"]


class Ended(NamedTuple):
    """A command that has ended. ``said`` is standard output, ``noted`` standard error."""

    code: int
    said: str
    noted: str

    @property
    def one_line(self) -> str:
        """What it noted, which must be one line of ours."""
        (line,) = self.noted.splitlines()
        assert line.startswith("assay: "), line
        assert "Traceback" not in line
        return line.removeprefix("assay: ")


def environ(home: Path, **settings: object) -> dict[str, str]:
    """An environment without anybody's settings; notes of ``assay up`` lie under ``home``."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    given = {f"ASSAY_{name.upper()}": str(value) for name, value in settings.items()}
    return {**kept, "XDG_CACHE_HOME": str(home), "COLUMNS": "80", **given}


def process(*arguments: object, env: Mapping[str, str], stdin: bytes = b"") -> Ended:
    """Run it to its end as a process of its own."""
    command = [*COMMAND, *map(str, arguments)]
    done = subprocess.run(command, env=dict(env), cwd=ROOT, input=stdin, capture_output=True, timeout=60, check=False)
    return _plain(Ended(done.returncode, done.stdout.decode(), done.stderr.decode()))


def assay(*arguments: object, env: Mapping[str, str], stdin: bytes = b"") -> Ended:
    """Run it to its end inside this process: the same command without the second that a start takes."""
    unset = dict.fromkeys(name for name in os.environ if name.startswith("ASSAY_"))
    with _own_logs():
        done = CliRunner().invoke(app, list(map(str, arguments)), input=stdin, env={**unset, **env})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return _plain(Ended(done.exit_code, done.stdout, done.stderr))


@contextmanager
def _own_logs() -> Iterator[None]:
    """A command sets up the logs of its process; here it shares one with the tests."""
    root, ours = logging.getLogger(), logging.getLogger("assay")
    before = (root.handlers[:], root.level, ours.level)
    try:
        yield
    finally:
        root.handlers[:], root.level, ours.level = before


def _plain(ended: Ended) -> Ended:
    """Nothing it writes may hold colour codes, for it does not write to a terminal; and no traceback, ever."""
    assert "\x1b[" not in ended.said + ended.noted
    assert "Traceback" not in ended.noted, ended.noted
    return ended


class Up:
    """A running ``assay up`` whose standard error goes to a file."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process, self.log = process, log

    def wait_for(self, text: str, *, times: int = 1, timeout_s: float = 40.0) -> None:
        deadline = time.monotonic() + timeout_s
        while self.log.read_text().count(text) < times:
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.05)

    def family(self) -> list[int]:
        """Every process that has come from it and lives: by the mark in their environment."""
        mark = f"ASSAY_TEST_MARK={self.log}".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
            except OSError:
                continue  # it has ended, or is not ours to see
        return found

    def worker(self, role: str) -> int:
        """The pid of a worker."""
        return self._running("run", role)

    def services(self) -> int:
        """The pid of the embedded broker and cache."""
        return self._running("workers.embedded.services", "1")

    def _running(self, *last_words: str) -> int:
        for pid in self.family():
            try:
                words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
            except OSError:
                continue
            if tuple(words[-3:-1]) == last_words:
                return pid
        raise AssertionError(f"{' '.join(last_words)} is not running")

    def gone(self, timeout_s: float = 10.0) -> bool:
        """Whether the whole family has ended, soon."""
        deadline = time.monotonic() + timeout_s
        while (left := self.family()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return not left


@contextmanager
def up(home: Path, **settings: object) -> Iterator[Up]:
    """``assay up`` with all workers at work."""
    log = home / "up.log"
    env = {**environ(home, **settings), "ASSAY_TEST_MARK": str(log)}
    with log.open("wb") as stderr:
        process = subprocess.Popen([*COMMAND, "up"], env=env, cwd=ROOT, stderr=stderr, start_new_session=True)
    running = Up(process, log)
    try:
        running.wait_for('"event": "started"', times=len(ROLES))
        running.wait_for('"partitions_assigned"', times=2)
        yield running
    finally:
        process.terminate()
        process.wait(30)
