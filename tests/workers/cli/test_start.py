"""Ctrl-C while the command is still being loaded."""

from __future__ import annotations

import signal
import subprocess
import sys

from tests.workers.cli.shell import ROOT


def test_ctrl_c_while_it_loads_ends_it_quietly() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "workers.cli.start", "--version"]
    loading = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert loading.stderr is not None
    for line in loading.stderr:
        if line.rstrip().endswith(" typer"):
            break
    loading.send_signal(signal.SIGINT)
    said, noted = loading.communicate(timeout=20)
    assert loading.returncode == 130
    assert said == ""
    assert [line for line in noted.splitlines() if not line.startswith("import time:")] == []
