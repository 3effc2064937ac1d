"""A real redis-server without a disk: plain, or with TLS and a password."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Self

from tests.services.process import Process, free_port, listens, own_directory
from tests.services.tls import Certificates, make_certificates

PASSWORD = "a-password-for-tests"


def why_no_redis() -> str | None:
    """What is missing to start Redis here, or None."""
    return None if shutil.which("redis-server") else "redis-server not found (Debian: redis-server)"


class RealRedis:
    """A running server; ``stop``, ``kill`` and ``start`` keep its port. What it held is gone after each."""

    def __init__(self, *, secure: bool = False) -> None:
        self._directory = own_directory()
        self._port, self._secure = free_port(), secure
        self.certificates: Certificates | None = make_certificates(self._directory) if secure else None
        self.process = Process(["redis-server", *self._arguments()], log=self._directory / "redis.log")
        self.start()

    @property
    def url(self) -> str:
        return f"rediss://:{PASSWORD}@127.0.0.1:{self._port}/0" if self._secure else f"redis://127.0.0.1:{self._port}/0"

    def start(self) -> None:
        self.process.launch()
        self.process.wait_until(lambda: listens(self._port), timeout_s=10)

    def stop(self) -> None:
        self.process.stop()

    def kill(self) -> None:
        self.process.kill()

    def close(self) -> None:
        self.process.kill()
        shutil.rmtree(self._directory, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _arguments(self) -> Sequence[str]:
        plain = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(self._directory)]
        if self.certificates is None:
            return [*plain, "--port", str(self._port)]
        return [
            *plain, "--port", "0", "--tls-port", str(self._port), "--requirepass", PASSWORD,
            "--tls-cert-file", str(self.certificates.certificate), "--tls-key-file", str(self.certificates.key),
            "--tls-ca-cert-file", str(self.certificates.ca), "--tls-auth-clients", "no",
        ]  # fmt: skip
