"""Published reports, alerts and canary runs for the tests of the page; and the example's, once for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from schemas.alerts import Alert, AlertKind, AlertState, Severity
from schemas.ids import event_id
from schemas.message import Message
from schemas.reports import Figure, Health, MetricReport
from tests.workers.stats_consumer.simulated import EXAMPLE
from workers.local.example_report import example_published
from workers.local.example_weeks import Terms
from workers.report.building import build
from workers.report.page import Page
from workers.report.published import Published
from workers.report.rendering import html

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
WEEK, BEFORE = "2026-W48", "2026-W47"
MONDAY = datetime(2026, 11, 23, tzinfo=UTC)
SMALL = Terms(items=220, labels=60, gold=12)
HOSTILE = (
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "</style><b>", "</title></svg><script>",
    "{{ 7*7 }}", "$\\frac{1$", "_hidden", "a\x00b\x1b[31m", "\u202eevil", "style=\"fill: #1f2430\" id=\"x\"",
    "https://example.org/x.png", "&lt;b&gt;", "字" * 200, "]]>", "%s%n",
)  # fmt: skip


@lru_cache
def example() -> Published:
    return example_published(EXAMPLE, now=NOW, terms=SMALL)


@lru_cache
def example_page() -> Page:
    return build(example(), WEEK, now=NOW)


@lru_cache
def example_html() -> str:
    return html(example_page())


def figure(
    name: str = "first_draft_pass_rate",
    value: float | None = 0.8,
    *,
    health: Health = Health.GENERATOR,
    lo: float | None = None,
    hi: float | None = None,
    n: int | None = 100,
    reason: str | None = None,
    scope: Mapping[str, str] | None = None,
) -> Figure:
    return Figure(
        health=health, name=name, scope=dict({"slice": "all"} if scope is None else scope), value=value, lo=lo, hi=hi,
        n=n, reason=reason or (None if value is not None else "41 more post-revision labels"),
    )  # fmt: skip


def report(
    *figures: Figure, week: str = WEEK, bom: str = "bom-1", revision: int = 0, final: bool = False, at: datetime = NOW
) -> MetricReport:
    return MetricReport(
        event_id=event_id("metric_report", week, bom, revision), window=week, bom_version=bom, revision=revision,
        final=final, figures=figures or (figure(),), reported_at=at,
    )  # fmt: skip


def alert(
    kind: str = "lenient_judge",
    state: str = "firing",
    *,
    at: datetime = NOW,
    scope: Mapping[str, str] | None = None,
    summary: str = "more drafts pass",
    severity: str = "page",
    evidence: Mapping[str, float | str | None] | None = None,
    bom: str = "bom-1",
) -> Alert:
    return Alert(
        event_id=event_id("alert", kind, state, at.isoformat(), bom, *(scope or {}).values()), kind=AlertKind(kind),
        state=AlertState(state), severity=Severity(severity), scope=dict(scope or {}), summary=summary,
        diagnosis="means this", action="do that", runbook=f"docs/runbook.md#{kind}", evidence=dict(evidence or {}),
        window="2026-W49", bom_version=bom, since=at, at=at,
    )  # fmt: skip


def published(*messages: Message) -> Published:
    fold = Published()
    for message in messages:
        fold.add(message)
    return fold


def page_of(*messages: Message, week: str = WEEK, now: datetime = NOW) -> Page:
    return build(published(*messages), week, now=now)


def days(n: float) -> timedelta:
    return timedelta(days=n)


def labels(page: Page, health: Health, panel: str) -> Sequence[str]:
    (found,) = [p for s in page.series[0].sections if s.health is health for p in s.panels if p.id == panel]
    return [line.label for line in found.lines]
