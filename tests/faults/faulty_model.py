"""A model over HTTP that misbehaves on command, and the example BOM that asks it."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import yaml
from aiohttp import web

from tests.services.process import free_port
from workers.bom import MANIFEST, read_files, seal
from workers.bom.example import example_bom

PASS = json.dumps({"label": "pass", "reason": "Nothing is wrong.", "evidence_spans": [], "guideline_clause": None})


class FaultyModel:
    """An endpoint of the OpenAI protocol that misbehaves on command: ok, hang, refuse, break, late."""

    def __init__(self) -> None:
        self.mode, self.calls, self.port = "ok", 0, free_port()
        self._over = asyncio.Event()

    async def __aenter__(self) -> FaultyModel:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._over.set()
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.calls += 1
        await request.read()
        if self.mode == "hang":
            await self._over.wait()
        if self.mode == "refuse":
            return web.json_response({"error": {"message": "overloaded"}}, status=503)
        if self.mode == "break" and request.transport is not None:
            request.transport.close()
        if self.mode == "late":
            await asyncio.sleep(0.7)
        await asyncio.sleep(0.05)
        choice = {"message": {"role": "assistant", "content": PASS}, "finish_reason": "stop"}
        return web.json_response({"model": "m-2026-01-01", "choices": [choice], "usage": None})


def http_bom(folder: Path) -> Path:
    """The example BOM with a model over HTTP that is given one second."""
    shutil.copytree(example_bom(), folder, ignore=shutil.ignore_patterns(MANIFEST))
    binding = {
        "provider": "openai_compatible", "model": "m-2026-01-01", "family": "tests", "temperature": 0.0,
        "max_output_tokens": 100, "structured_output": "none", "attempt_timeout_s": 1, "max_attempts": 2,
    }  # fmt: skip
    (folder / "bindings.yaml").write_text(yaml.safe_dump({"judges": {"primary": binding}}))
    seal(folder, read_files(folder))
    return folder
