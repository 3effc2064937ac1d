"""The health server tells the truth, and a taken port is one clear line."""

from __future__ import annotations

import aiohttp
import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from schemas.errors import SettingsError
from workers.runtime.health import HealthServer
from workers.runtime.metrics import METRICS, Kind, Metrics

pytestmark = pytest.mark.anyio


@pytest.fixture
async def server():
    reasons = {"alive": [], "ready": ["draining"]}
    metrics = Metrics(CollectorRegistry())
    made = HealthServer(
        host="127.0.0.1", port=0, alive=lambda: reasons["alive"], ready=lambda: reasons["ready"], metrics=metrics
    )
    port = await made.start()
    yield f"http://127.0.0.1:{port}", reasons, metrics
    await made.stop()


async def get(url):
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return answer.status, await answer.text()


async def test_it_says_why_not(server):
    url, reasons, _ = server
    assert await get(f"{url}/livez") == (200, '{"ok": true, "reasons": []}')
    assert await get(f"{url}/readyz") == (503, '{"ok": false, "reasons": ["draining"]}')
    reasons["alive"] = ["the committer does not run"]
    assert (await get(f"{url}/livez"))[0] == 503


async def test_numbers_that_are_kept_elsewhere_are_fetched_at_a_scrape(server):
    url, _, metrics = server
    metrics.before_scrape(lambda: metrics.set("assay_partitions", 4, topic="drafts"))
    metrics.add("assay_dead_letters_total", topic="drafts", kind="empty")
    _, text = await get(f"{url}/metrics")
    samples = {sample.name: sample for family in text_string_to_metric_families(text) for sample in family.samples}
    assert samples["assay_partitions"].value == 4
    assert samples["assay_dead_letters_total"].labels == {"topic": "drafts", "kind": "empty"}


async def test_a_taken_port_is_one_clear_line(server):
    url, _, _ = server
    port = int(url.rsplit(":", 1)[1])
    other = HealthServer(host="127.0.0.1", port=port, alive=list, ready=list, metrics=Metrics(CollectorRegistry()))
    with pytest.raises(SettingsError, match=rf"cannot listen on 127\.0\.0\.1:{port} .*; set ASSAY_HEALTH_PORT"):
        await other.start()


def test_every_metric_is_named_by_the_rules_and_undeclared_ones_do_not_exist():
    assert len({row.name for row in METRICS}) == len(METRICS)
    for row in METRICS:
        assert row.name.startswith("assay_")
        assert row.name.endswith("_total") == (row.kind is Kind.COUNTER)
        assert bool(row.buckets) == (row.kind is Kind.HISTOGRAM)
        assert row.meaning
        assert row.unit
    with pytest.raises(KeyError):
        Metrics(CollectorRegistry()).add("assay_nonsense_total")
