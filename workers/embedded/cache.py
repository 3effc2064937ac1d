"""A Redis that lives in a Python process: fakeredis on a loopback port."""

from __future__ import annotations

import threading
from typing import Any

from workers.embedded.broker import EmbeddedUnavailable


class EmbeddedCache:
    """A running cache server; ``close`` ends it and everything in it is gone."""

    def __init__(self) -> None:
        self._server = _server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._server.serve_forever, name="embedded-cache", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._server.server_address[1]}/0"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)


def _server(address: tuple[str, int]) -> Any:
    try:
        # Here, not above: whoever has a Redis of their own need not have this package.
        from fakeredis import TcpFakeServer
    except ModuleNotFoundError as error:
        raise EmbeddedUnavailable("fakeredis is missing: pip install 'assay[embedded]'") from error
    server = TcpFakeServer(address)
    # A client that never hangs up must not keep the process from ending.
    server.daemon_threads, server.block_on_close = True, False
    return server
