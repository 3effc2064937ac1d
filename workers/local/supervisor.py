"""Worker processes under one parent: started, started again when they stop themselves, ended together."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 30.0
STEADY_S = 60.0
"""A process that lived this long had started well: its next pause is the first one again."""

SERVICE_LOST = 3
LOST_GRACE_S = 2.0

HOPELESS = frozenset({2, SERVICE_LOST, 4})
"""Exit codes that starting again does not mend: usage or settings, a service that is not there, a broken BOM."""

TOO_MANY_DEAD_LETTERS = 6
"""Starting again would set as many records aside again; the others go on, for somebody has to look at the letters."""


@dataclass(slots=True)
class _Child:
    command: Sequence[str]
    process: subprocess.Popen[bytes]
    started: float
    pause_s: float = FIRST_PAUSE_S
    due: float | None = None  # when to start again
    left: bool = False  # ended, and not to be started again


@dataclass
class Supervisor:
    """``say`` is told in words what happens. ``grace_s`` is how long children may drain before they are killed.

    ``own`` has, by name, what a child's environment says beside ``environ``.
    ``lost`` says what all of them need and is gone, or None: without it there is nothing to drain to.
    """

    commands: Mapping[str, Sequence[str]]
    environ: Mapping[str, str]
    grace_s: float
    say: Callable[[str], None]
    lost: Callable[[], str | None] = lambda: None
    own: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    _children: dict[str, _Child] = field(default_factory=dict)
    _stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> int:
        """Until SIGINT or SIGTERM, or until something ends that starting a child again does not mend.

        Returns 0, or the exit code of the child that ended for good.
        """
        before = {number: signal.signal(number, self._on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            for name, command in self.commands.items():
                self._children[name] = _Child(command, self._start(name, command), time.monotonic())
            while not self._stop.wait(0.2):
                if (why := self.lost()) is not None:
                    self.say(why)
                    self.grace_s = min(self.grace_s, LOST_GRACE_S)
                    return SERVICE_LOST
                if (code := self._look_after()) is not None:
                    return code
            return TOO_MANY_DEAD_LETTERS if any(child.left for child in self._children.values()) else 0
        finally:
            self._end()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, *_: object) -> None:
        self._stop.set()

    def _start(self, name: str, command: Sequence[str]) -> subprocess.Popen[bytes]:
        # A session of its own: Ctrl-C reaches the parent alone, which ends its children in order. Its standard input
        # closes with this process, however that ends.
        environ = {**self.environ, **self.own.get(name, {})}
        return subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, start_new_session=True)  # noqa: S603 - our own command

    def _look_after(self) -> int | None:
        now = time.monotonic()
        for name, child in self._children.items():
            code = child.process.poll()
            if code is None or child.left:
                continue
            if code == TOO_MANY_DEAD_LETTERS:
                child.left = True
                self.say(f"{name} ended with code {code} and is not started again; all others go on. Stop with Ctrl-C.")
                continue
            if code in HOPELESS:
                self.say(f"{name} ended with code {code}")
                return code
            if child.due is None:
                if now - child.started > STEADY_S:
                    child.pause_s = FIRST_PAUSE_S
                child.due = now + child.pause_s
                self.say(f"{name} ended with code {code}; starting it again in {child.pause_s:g} s")
                child.pause_s = min(child.pause_s * 2, LONGEST_PAUSE_S)
            elif now >= child.due:
                child.process, child.started, child.due = self._start(name, child.command), now, None
        return None

    def _end(self) -> None:
        for child in self._children.values():
            if child.process.poll() is None:
                child.process.terminate()
        until = time.monotonic() + self.grace_s
        for name, child in self._children.items():
            try:
                child.process.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.say(f"{name} did not drain within {self.grace_s:g} s and is killed")
                child.process.kill()
                child.process.wait()
            if child.process.stdin is not None:
                child.process.stdin.close()


def worker_command(role: str) -> list[str]:
    """How a worker process that does not outlive its parent is started with this Python."""
    return [sys.executable, "-m", "workers.local.leashed", "run", role]
