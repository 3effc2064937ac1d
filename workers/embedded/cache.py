"""A Redis that lives in a Python process: fakeredis on a loopback port."""

from __future__ import annotations

import threading

from fakeredis import TcpFakeServer


class EmbeddedCache:
    """A running cache server; ``close`` ends it and everything in it is gone."""

    def __init__(self) -> None:
        self._server = _Server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._server.serve_forever, name="embedded-cache", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._server.server_address[1]}/0"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)


class _Server(TcpFakeServer):
    def __init__(self, address: tuple[str, int]) -> None:
        super().__init__(address)
        # A client that never hangs up must not keep the process from ending.
        self.daemon_threads = True
        self.block_on_close = False
