"""``python -m workers.local.leashed COMMAND...``: the command line, ended by SIGTERM when its parent is gone.

A parent that was killed cannot end its children. It holds the other end of their standard input, and that closes.
"""

from __future__ import annotations

import os
import runpy
import signal
import threading


def watch(descriptor: int = 0) -> None:
    """Wait until the input ends, then ask this process to stop in order."""
    while os.read(descriptor, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=watch, name="leash", daemon=True).start()
    runpy.run_module("workers.cli.main", run_name="__main__", alter_sys=False)
