"""Redis for tests: a real redis-server of our own on a free port, the one named by ASSAY_TEST_REDIS, or fakeredis."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from fakeredis import TcpFakeServer


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def real_redis() -> Iterator[str | None]:
    """The URL of a real Redis, or None where none can be had."""
    if url := os.environ.get("ASSAY_TEST_REDIS"):
        yield url
    elif binary := shutil.which("redis-server"):
        with started(binary, free_port()) as own:
            yield own
    else:
        yield None


@contextmanager
def started(binary: str, port: int) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder]
        process = subprocess.Popen([binary, *options], stdout=subprocess.DEVNULL)
        try:
            _await_port(port)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate()
            process.wait(timeout=10)


@contextmanager
def fake_redis_over_tcp() -> Iterator[str]:
    port = free_port()
    server = TcpFakeServer(("127.0.0.1", port))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)


def _await_port(port: int) -> None:
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise RuntimeError(f"redis-server did not listen on port {port} within 4 s")
