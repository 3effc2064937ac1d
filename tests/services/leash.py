"""Run a command that must not outlive whoever started it: ``python -m tests.services.leash COMMAND...``.

Prints the command's process id, then waits. The command is killed when standard input ends, which it does however the
starter dies; SIGTERM is passed on. Killing the leash itself kills the command too, where the system is Linux.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading

_PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def main(command: list[str]) -> int:
    # Only this process's single thread starts the child: the death signal follows the thread, not the process.
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=_die_with_parent)
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the starter, who stops the services in order
    sys.stderr.write(f"{child.pid}\n")
    sys.stderr.flush()
    threading.Thread(target=_kill_at_end_of_input, args=(child,), daemon=True).start()
    return child.wait()


def _kill_at_end_of_input(child: subprocess.Popen[bytes]) -> None:
    while os.read(0, 1024):
        pass
    child.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
