"""``assay report`` and ``assay tail --metrics``: from simulated weeks through the topics to the page."""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from tests.workers.cli.shell import assay
from tests.workers.report.reading import faults, read
from tests.workers.report.specimens import HOSTILE
from tests.workers.report.test_rendering import said_by
from tests.workers.stats_consumer.said import MONDAY, canary, in_week
from tests.workers.stats_consumer.simulated import week
from tests.workers.stats_consumer.test_running import counting, redis_of, send, settings
from tests.workers.stats_consumer.test_worker_dies import wait_until_counted
from workers.cli.output import Exit
from workers.report.page import Page
from workers.runtime.settings import Settings
from workers.stats_consumer.weeks import pane_of, week_name

__all__ = ["settings"]

LAST = week_name(pane_of(in_week(2)))


@pytest.fixture
def env(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.chdir(tmp_path)
    return {"ASSAY_KAFKA": str(settings.kafka), "ASSAY_TOPIC_PREFIX": settings.topic_prefix, "COLUMNS": "100"}


async def _count(settings: Settings) -> None:
    rng = random.Random(7)
    said = [m for n in range(3) for m in week(n, rng, drafts=200, labelled=60)]
    said += [canary(2, at=MONDAY + timedelta(days=day)) for day in range(3)]
    await send(settings, said)
    async with redis_of(settings) as redis, counting(settings):
        await wait_until_counted(redis, settings)


def test_weeks_that_went_through_the_topics_become_a_page_and_a_document(
    settings: Settings, env: dict[str, str], tmp_path: Path
) -> None:
    asyncio.run(_count(settings))
    done = assay("report", "--week", LAST, env=env)
    assert (done.code, done.said) == (Exit.OK, f"assay-report-{LAST}.html\n")
    html = (tmp_path / f"assay-report-{LAST}.html").read_text()
    assert faults(html) == []
    assert "svg" in read(html).tags
    page = Page.model_validate_json(assay("report", "--week", LAST, "--json", env=env).said)
    (series,) = page.series
    assert (page.week, series.bom_version, series.first_drafts) == (LAST, "bom-1", 200)
    assert len(page.canary) == 3
    assert page.weeks_published == tuple(week_name(pane_of(in_week(n))) for n in range(3))
    assert {str(a.state) for a in page.alerts}
    tailed = assay("tail", "--metrics", "--to-end", env=env)
    assert tailed.code == Exit.OK
    assert tailed.said.startswith(f"{LAST}  bom-1")
    assert "56.0% of 200 first drafts passed" in tailed.said
    assert "First drafts that pass the gate\n" in re.sub(" +\n", "\n", tailed.said)
    (line,) = assay("tail", "--metrics", "--to-end", "--json", env=env).said.splitlines()
    assert json.loads(line)["window"] == LAST


def test_a_week_without_figures_is_a_page_and_a_note_and_exit_code_1(env: dict[str, str], tmp_path: Path) -> None:
    done = assay("report", "--week", "2020-W10", "--out", "empty.html", env=env)
    assert done.code == Exit.FOUND
    assert "no figures of 2020-W10" in done.noted
    assert "No figures of 2020-W10" in (tmp_path / "empty.html").read_text()


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("example")
    done = assay("report", "--example", "--json", "--out", folder / "r.html", env={})
    assert done.code == Exit.OK
    assert "made-up" in done.noted
    return folder / "r.html", done.said


def test_the_example_is_a_filled_report_without_kafka(example: tuple[Path, str]) -> None:
    path, document = example
    assert faults(path.read_text()) == []
    page = Page.model_validate_json(document)
    assert page.closed
    assert len(page.series[0].sections) == 4
    assert len(page.canary) == 28


def test_plots_are_files_of_the_kind_that_was_asked_for(
    env: dict[str, str], settings: Settings, tmp_path: Path
) -> None:
    runs = [canary(2, at=MONDAY + timedelta(days=day)) for day in range(3)]
    asyncio.run(send(settings, runs))
    done = assay("report", "--week", LAST, "--plots", "charts", "--format", "png", env=env)
    assert done.code == Exit.FOUND  # the canary alone: no figures yet
    assert [p.name for p in (tmp_path / "charts").iterdir()] == [f"{LAST}-canary.png"]
    assert not list(tmp_path.glob("*.html"))


@pytest.mark.parametrize("wrong", ["2026-W54", "last", "2026-48"])
def test_a_week_that_is_none_is_one_line(wrong: str, env: dict[str, str]) -> None:
    done = assay("report", "--week", wrong, env=env)
    assert done.code == Exit.USAGE
    assert wrong in done.noted


def test_a_folder_that_cannot_be_written_is_one_line(env: dict[str, str]) -> None:
    done = assay("report", "--week", LAST, "--out", "nowhere/r.html", env=env)
    assert done.code == Exit.USAGE
    assert "cannot write nowhere/r.html" in done.noted


def test_without_the_plots_extra_one_line_names_the_remedy(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("workers.report.rendering", "workers.report.plots", "workers.report.charts", "workers.report.svg"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = assay("report", "--week", LAST, env=env)
    assert done.code == Exit.USAGE
    assert "pip install 'assay[plots]'" in done.noted
    assert assay("report", "--week", LAST, "--json", env=env).code == Exit.FOUND


@pytest.mark.parametrize("wrong", [["tail"], ["tail", "metrics", "--metrics"]])
def test_tail_wants_a_topic_or_metrics_not_both(wrong: list[str], env: dict[str, str]) -> None:
    done = assay(*wrong, env=env)
    assert done.code == Exit.USAGE
    assert "--metrics" in done.one_line


def test_names_from_outside_steer_no_terminal(env: dict[str, str], settings: Settings) -> None:
    asyncio.run(send(settings, said_by(*HOSTILE)[:1]))
    done = assay("tail", "--metrics", "--to-end", env=env)
    assert done.code == Exit.OK
    assert all(char.isprintable() or char == "\n" for char in done.said)
