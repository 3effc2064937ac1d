"""The page opened in a real Chromium without network: silent, alone, drawn, and its text can be selected."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.services.chromium import Tab, tab
from tests.workers.report.specimens import HOSTILE, example_html, page_of
from tests.workers.report.test_rendering import said_by
from workers.report.rendering import html

pytestmark = [pytest.mark.anyio, pytest.mark.real]

_DRAWN = "[...document.querySelectorAll('svg.chart')].filter(s => s.querySelectorAll('path').length > 2).length"
_TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
_SELECTED = """
(() => {
  const texts = [...document.querySelectorAll('svg text')], selection = window.getSelection();
  return texts.map(text => { selection.selectAllChildren(text); return selection.toString(); });
})()
"""
_PAPER = "getComputedStyle(document.body).backgroundColor"


@pytest.fixture
async def browser(real_chromium: None) -> AsyncIterator[Tab]:
    async with tab() as one:
        yield one


def written(folder: Path, text: str) -> str:
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    return path.as_uri()


async def test_the_page_is_silent_alone_drawn_and_its_text_can_be_selected(browser: Tab, tmp_path: Path) -> None:
    page = example_html()
    url = written(tmp_path, page)
    for width, dark in ((1200, False), (360, True)):
        opened = await browser.open(url, width=width, dark=dark)
        assert opened.complaints(url) == []
        assert opened.requests.count(url) == 1
        assert await browser.run(_DRAWN) == page.count("<svg ") >= 12
        assert await browser.run(_TOO_WIDE) <= 0
        selected = set(await browser.run(_SELECTED))
        assert {"c1_spec_accuracy", "served on first pass", "edge of the band"} <= selected
    light = (await browser.open(url), await browser.run(_PAPER))[1]
    dark_paper = (await browser.open(url, dark=True), await browser.run(_PAPER))[1]
    assert light != dark_paper
    printed = await browser.ask("Page.printToPDF", printBackground=True)
    assert base64.b64decode(printed["data"]).startswith(b"%PDF-")


async def test_hostile_names_run_nothing_and_ask_for_nothing(browser: Tab, tmp_path: Path) -> None:
    url = written(tmp_path, html(page_of(*said_by(*HOSTILE))))
    opened = await browser.open(url)
    assert opened.complaints(url) == []


async def test_the_check_catches_a_page_that_complains_or_asks_for_something(browser: Tab, tmp_path: Path) -> None:
    for broken in (
        "<script>console.error('oh')</script>",
        "<script>throw new Error('oh')</script>",
        "<img src='https://example.org/x.png'>",
        "<link rel=stylesheet href='https://example.org/x.css'>",
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'\"><img src='https://example.org/x'>",
        "<script>setTimeout(() => fetch('https://example.org/'), 1)</script>",
    ):
        url = written(tmp_path, f"<!doctype html><title>x</title>{broken}")
        assert (await browser.open(url)).complaints(url), broken
    url = written(tmp_path, "<!doctype html><title>x</title>quiet")
    assert (await browser.open(url)).complaints(url) == []
