"""A real headless Chromium without network: opens a file and says what it saw (DevTools protocol over aiohttp)."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from tests.services.process import Process, own_directory

COMMANDS = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-port=0",
)  # fmt: skip
_TROUBLE = ("error", "warning", "assert")


def chromium_command() -> str | None:
    return next(filter(None, map(shutil.which, COMMANDS)), None)


def why_no_chromium() -> str | None:
    return None if chromium_command() else "no Chromium is installed (Debian package: chromium)"


@dataclass
class Opened:
    """What happened while a page loaded: everything that a reader's console would show, and every request."""

    said: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def complaints(self, url: str) -> list[str]:
        """Why the page is not self-contained and quiet; empty when it is."""
        return [*self.said, *(f"requested {r}" for r in self.requests if r != url and not r.startswith("data:"))]


class Tab:
    """One page. Its events are read while commands wait for their answers."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket, self._numbers = socket, itertools.count(1)
        self.opened = Opened()
        self._loaded = False

    async def open(self, url: str, *, width: int = 1200, dark: bool = False) -> Opened:
        self.opened, self._loaded = Opened(), False
        for domain in ("Page", "Runtime", "Log", "Network"):
            await self.ask(f"{domain}.enable")
        await self.ask("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0,
                       uploadThroughput=0)  # fmt: skip
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        await self.ask("Emulation.setEmulatedMedia", features=scheme)
        await self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                       mobile=width < 600)  # fmt: skip
        await self.ask("Page.navigate", url=url)
        while not self._loaded:
            self._hear(await self._socket.receive_json(timeout=20))
        await self.run("new Promise(done => setTimeout(done, 50))")  # what is asked for after loading is seen too
        return self.opened

    async def run(self, script: str) -> Any:
        """The value of a script in the page."""
        answer = await self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": params})
        while True:
            message = await self._socket.receive_json(timeout=20)
            if message.get("id") == number:
                assert "error" not in message, (method, message)
                return dict(message["result"])
            self._hear(message)

    def _hear(self, message: dict[str, Any]) -> None:
        params = message.get("params", {})
        match message.get("method"):
            case "Page.loadEventFired":
                self._loaded = True
            case "Network.requestWillBeSent":
                self.opened.requests.append(params["request"]["url"])
            case "Log.entryAdded" if params["entry"]["level"] in _TROUBLE:
                self.opened.said.append(params["entry"]["text"])
            case "Runtime.exceptionThrown":
                self.opened.said.append(params["exceptionDetails"]["text"])
            case "Runtime.consoleAPICalled" if params["type"] in _TROUBLE:
                self.opened.said.append(str(params["args"]))
            case _:
                pass


@asynccontextmanager
async def tab() -> AsyncIterator[Tab]:
    """A browser of this block alone, gone with all its processes and files at the end."""
    command, profile = chromium_command(), own_directory()
    assert command is not None
    note = profile / "DevToolsActivePort"
    browser = Process([command, *_FLAGS, f"--user-data-dir={profile}", "about:blank"], log=profile / "chromium.log")
    try:
        browser.launch()
        browser.wait_until(lambda: note.exists() and bool(note.read_text().strip()), timeout_s=60)
        port = int(note.read_text().splitlines()[0])
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json/list") as response:
                pages = [page for page in await response.json() if page["type"] == "page"]
            async with session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                yield Tab(socket)
    finally:
        browser.kill()
        shutil.rmtree(profile, ignore_errors=True)
