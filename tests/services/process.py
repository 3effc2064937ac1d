"""A server process of a test: started on a leash, watched until it answers, stopped, killed, started again."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".services"
"""Jars and running services' data; ignored by git."""


class ServiceFailed(Exception):
    """A service did not start; the message ends with the last lines of its log."""


class Process:
    """One server. ``log`` receives what it writes. Not for use from several threads."""

    def __init__(self, command: Sequence[str], *, log: Path) -> None:
        self._command, self.log = list(command), log
        self._leash: subprocess.Popen[bytes] | None = None
        self.pid = 0

    def launch(self) -> None:
        """Start it; ``wait_until`` says when it answers."""
        with self.log.open("ab") as log:
            self._leash = subprocess.Popen(
                [sys.executable, "-m", "tests.services.leash", *self._command],
                cwd=ROOT, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.PIPE,
            )  # fmt: skip
        assert self._leash.stderr is not None
        self.pid = int(self._leash.stderr.readline() or 0)

    def wait_until(self, answers: Callable[[], bool], *, timeout_s: float = 60.0) -> None:
        """Wait until ``answers``. Raises ServiceFailed when it ends before, or takes too long."""
        deadline = time.monotonic() + timeout_s
        while not answers():
            if self._leash is None or self._leash.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise ServiceFailed(f"{self._command[0]} did not start:\n{self._tail()}")
            time.sleep(0.05)

    @property
    def running(self) -> bool:
        return self._leash is not None and self._leash.poll() is None

    def stop(self, *, timeout_s: float = 15.0) -> None:
        """End it in order; kill it when it takes too long."""
        if self._leash is not None:
            self._leash.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._leash.wait(timeout_s)
        self.kill()

    def kill(self) -> None:
        """kill -9, and wait until it is gone."""
        if self._leash is None:
            return
        if self._leash.poll() is None and self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        for pipe in (self._leash.stdin, self._leash.stderr):
            if pipe is not None:
                pipe.close()
        self._leash.wait()
        self._leash = None

    def pause(self) -> None:
        """Stop it in its tracks (SIGSTOP): connections stay open and nothing answers."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def memory_mib(self) -> float:
        """Resident memory, MiB (Linux)."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def _tail(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])


def free_port() -> int:
    """A port nobody listens on, outside the range the system takes clients' ports from.

    A client that tries again and again to reach a stopped server inside that range may connect to itself.
    """
    for _ in range(100):
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise ServiceFailed("no free port between 20000 and 32000")


def listens(port: int) -> bool:
    """Somebody accepts connections on this port of the loopback."""
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def own_directory() -> Path:
    """A new directory for this process's data; those of processes that are gone are removed."""
    running = CACHE / "running"
    running.mkdir(parents=True, exist_ok=True)
    for left in running.iterdir():
        if not Path(f"/proc/{left.name.split('-')[0]}").exists():
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=running))
