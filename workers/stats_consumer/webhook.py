"""Alerts to where on-call looks: posted as Slack or PagerDuty wants them, tried a few times, beside the counting."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import httpx

from schemas.alerts import Alert, AlertState, Severity
from workers.runtime.logs import event
from workers.runtime.settings import WebhookShape

_PAUSES_S = (1.0, 5.0, 30.0)
_TIMEOUT_S = 10.0
_WAITING = 1_000
_SEVERITIES = {Severity.PAGE: "critical", Severity.TICKET: "warning", Severity.INFO: "info"}


def worth_telling(alert: Alert) -> bool:
    """What fires, and what becomes of it. The topic holds the rest: what never fired."""
    return alert.times > 0


def slack(alert: Alert) -> dict[str, Any]:
    """The body of an incoming webhook."""
    of = [alert.bom_version] if alert.bom_version else []
    scope = ", ".join([*(f"{name} {value}" for name, value in sorted(alert.scope.items())), *of])
    title = f"[{alert.state}] {alert.kind}" + (f" ({scope})" if scope else "")
    lines = [f"*{title}*", alert.summary]
    if alert.state is AlertState.FIRING:
        lines += [f"Most likely: {alert.diagnosis}.", f"First: {alert.action}.", alert.runbook]
    return {"text": "\n".join(_escaped(line) for line in lines)}


def pagerduty(alert: Alert, *, key: str) -> dict[str, Any]:
    """An event of the Events API v2; the alert's key joins what belongs together."""
    return {
        "routing_key": key,
        "event_action": "resolve" if alert.state is AlertState.RESOLVED else "trigger",
        "dedup_key": alert.key()[:255],
        "payload": {
            "summary": f"{alert.kind}: {alert.summary}"[:1024],
            "source": "assay",
            "severity": _SEVERITIES[alert.severity],
            "timestamp": alert.at.isoformat(),
            "custom_details": alert.model_dump(
                mode="json", include={"scope", "bom_version", "diagnosis", "action", "runbook", "evidence"}
            ),
        },
    }


class Webhook:
    """Posts in the background, in order. ``failed`` is called for every alert that was given up."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        url: str,
        *,
        shape: WebhookShape,
        key: str = "",
        failed: Callable[[], None],
        pauses_s: Sequence[float] = _PAUSES_S,
    ) -> None:
        self._client, self._url, self._shape, self._key = client, url, shape, key
        self._failed, self._pauses_s = failed, pauses_s
        self._queue: asyncio.Queue[Alert] = asyncio.Queue(_WAITING)

    def tell(self, alerts: Iterable[Alert]) -> None:
        for alert in filter(worth_telling, alerts):
            try:
                self._queue.put_nowait(alert)
            except asyncio.QueueFull:
                self._failed()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            alert = await self._queue.get()
            try:
                await self._post(alert)
            finally:
                self._queue.task_done()

    async def drain(self) -> None:
        """Wait until everything told has been posted or given up."""
        await self._queue.join()

    async def _post(self, alert: Alert) -> None:
        body = slack(alert) if self._shape == "slack" else pagerduty(alert, key=self._key)
        reason = ""
        for pause_s in (0.0, *self._pauses_s):
            await asyncio.sleep(pause_s)
            try:
                answer = await self._client.post(self._url, json=body, timeout=_TIMEOUT_S)
            except httpx.HTTPError as error:
                reason = type(error).__name__  # its text may hold the URL, which is a secret
                continue
            if answer.is_success:
                return
            reason = f"status {answer.status_code}"
            if answer.status_code < 500 and answer.status_code != 429:
                break
        event("webhook_failed", level=logging.WARNING, kind=alert.kind, reason=reason)
        self._failed()


def _escaped(line: str) -> str:
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
