from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from rich.console import Console

from tests.workers.stats_consumer.simulated import EXAMPLE
from workers.cli.tail_metrics import SHOWN, shown
from workers.local.example_report import example_published
from workers.report.building import build
from workers.report.page import Series

NOW = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def series() -> Series:
    published = example_published(EXAMPLE, now=NOW)
    return build(published, published.weeks()[-1], now=NOW).series[0]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_word_is_lost_in_a_narrow_terminal(series: Series, width: int) -> None:
    console = Console(width=width, color_system=None, record=True)
    console.print(shown(series))
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= width
    words = set(re.split(r"\s+", text))
    panels = [panel for section in series.sections for panel in section.panels if panel.id in SHOWN]
    reasons = [line.reason for panel in panels for line in panel.lines if line.reason]
    assert reasons
    assert {word for reason in reasons for word in reason.split()} <= words
