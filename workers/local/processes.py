"""Workers as child processes for the time of a block. One that dies is not replaced: the others take its partitions."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from workers.local.supervisor import worker_command
from workers.runtime.settings import Settings, environ_of

_GRACE_S = 30.0


@contextmanager
def processes(role: str, count: int, settings: Settings) -> Iterator[list[subprocess.Popen[bytes]]]:
    """``count`` workers of a role, with these settings; ended in order when the block ends."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    environ = {**others, **environ_of(settings)}
    command = worker_command(role)
    children = [subprocess.Popen(command, env=environ, stdin=subprocess.PIPE) for _ in range(count)]  # noqa: S603 - our own command
    try:
        yield children
    finally:
        for child in children:
            child.terminate()
        for child in children:
            try:
                child.wait(_GRACE_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            if child.stdin is not None:
                child.stdin.close()
