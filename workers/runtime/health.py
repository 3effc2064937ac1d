"""/livez, /readyz and /metrics: a small server that binds first and closes last.

/livez: the event loop turns and nothing is stuck; otherwise restart me. /readyz: work flows; the body says why not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aiohttp import web
from prometheus_client import generate_latest

from schemas.errors import SettingsError
from workers.runtime.metrics import Metrics

Reasons = Callable[[], Sequence[str]]
"""Why not, in short words; nothing = all is well."""


class HealthServer:
    """Serves from ``start`` to ``stop``, during the drain too."""

    def __init__(self, *, host: str, port: int, alive: Reasons, ready: Reasons, metrics: Metrics) -> None:
        self._host, self._port = host, port
        self._alive, self._ready, self._metrics = alive, ready, metrics
        self._runner: web.AppRunner | None = None

    async def start(self) -> int:
        """Bind; the port that was bound. Raises SettingsError when it is taken."""
        app = web.Application()
        app.router.add_get("/livez", self._livez)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._scrape)
        runner = web.AppRunner(app, access_log=None, handle_signals=False)
        await runner.setup()
        try:
            await web.TCPSite(runner, self._host, self._port).start()
        except OSError as error:
            await runner.cleanup()
            raise SettingsError(
                f"cannot listen on {self._host}:{self._port} ({error.strerror}); set ASSAY_HEALTH_PORT to a free port"
            ) from error
        self._runner = runner
        return int(runner.addresses[0][1])

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _livez(self, _: web.Request) -> web.Response:
        return _answer(self._alive())

    async def _readyz(self, _: web.Request) -> web.Response:
        return _answer(self._ready())

    async def _scrape(self, _: web.Request) -> web.Response:
        self._metrics.refresh()
        return web.Response(body=generate_latest(self._metrics.registry), content_type="text/plain", charset="utf-8")


def _answer(reasons: Sequence[str]) -> web.Response:
    return web.json_response({"ok": not reasons, "reasons": list(reasons)}, status=503 if reasons else 200)
