"""Alerts are posted in Slack's and PagerDuty's shape, tried again while the other side is down, and leak no URL."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime

import httpx
import pytest

from schemas.alerts import Alert, AlertKind
from workers.stats_consumer.alert_book import AlertBook
from workers.stats_consumer.outcome import Fires, Looked, NoData, Quiet
from workers.stats_consumer.webhook import Webhook, pagerduty, slack, worth_telling

NOW = datetime(2026, 9, 7, tzinfo=UTC)
KIND = AlertKind.LENIENT_JUDGE


def alerts() -> list[Alert]:
    """One that fires, then ends."""
    book = AlertBook()
    outcomes = (Fires(KIND, {"criterion": "c1"}, "more <b> pass", {"x": 1.0}), Quiet(KIND, {"criterion": "c1"}))
    return [a for o in outcomes for a in book.tell([Looked("b", [o])], window="w", now=NOW)]


def test_slack_gets_what_it_means_and_where_to_read_on_with_markup_made_harmless() -> None:
    text = slack(alerts()[0])["text"]
    assert text.startswith(
        "*[firing] lenient_judge (criterion c1, b)*\nmore &lt;b&gt; pass\nMost likely: the judge became"
    )
    assert text.endswith("docs/runbook.md#lenient_judge")


def test_pagerduty_joins_trigger_and_resolve_by_one_key() -> None:
    fired, ended = (pagerduty(alert, key="k") for alert in alerts())
    assert (fired["event_action"], ended["event_action"]) == ("trigger", "resolve")
    assert fired["dedup_key"] == ended["dedup_key"] == "lenient_judge:b:criterion=c1"
    assert (fired["routing_key"], fired["payload"]["severity"]) == ("k", "critical")


def test_what_never_fired_and_has_no_data_wakes_nobody() -> None:
    book = AlertBook()
    (blind,) = book.tell([Looked("b", [NoData(KIND, {}, "labels")])], window="w", now=NOW)
    (well,) = book.tell([Looked("b", [Quiet(KIND, {})])], window="w", now=NOW)
    assert not worth_telling(blind)
    assert not worth_telling(well)


async def posted(statuses: list[int], *, pauses: int = 2) -> tuple[list[dict[str, str]], int]:
    """Bodies that arrived while the other side answered with these statuses, and how many alerts were given up."""
    bodies: list[dict[str, str]] = []
    given_up: list[None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content))
        return httpx.Response(statuses[min(len(bodies), len(statuses)) - 1])

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        webhook = Webhook(
            client, "https://hooks.example/secret", shape="slack", failed=lambda: given_up.append(None),
            pauses_s=(0.0,) * pauses,
        )  # fmt: skip
        running = asyncio.create_task(webhook.run())
        webhook.tell(alerts()[:1])
        await webhook.drain()
        running.cancel()
    return bodies, len(given_up)


@pytest.mark.anyio
async def test_a_server_that_is_down_is_asked_again() -> None:
    bodies, given_up = await posted([503, 429, 200])
    assert (len(bodies), given_up) == (3, 0)


@pytest.mark.anyio
async def test_an_alert_that_nobody_takes_is_given_up_and_counted() -> None:
    assert [len((await posted([500]))[0]), (await posted([500]))[1]] == [3, 1]


@pytest.mark.anyio
async def test_a_refusal_is_final() -> None:
    bodies, given_up = await posted([404])
    assert (len(bodies), given_up) == (1, 1)


@pytest.mark.anyio
async def test_the_url_is_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    await posted([500])
    assert "secret" not in "".join(record.getMessage() for record in caplog.records if record.name != "httpx")
