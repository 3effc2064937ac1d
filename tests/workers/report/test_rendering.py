"""The page: self-contained, the same numbers as the JSON, words where there is no number, hostile names harmless."""

from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from schemas.message import Message
from schemas.reports import Figure, Health
from scripts.readme_tables import REPORT_SCHEMA, report_schema
from tests.workers.report.reading import faults, read
from tests.workers.report.specimens import (
    HOSTILE,
    NOW,
    WEEK,
    alert,
    example_html,
    example_page,
    figure,
    page_of,
    report,
)
from workers.report.page import SCHEMA, Page
from workers.report.rendering import html
from workers.report.words import written
from workers.runtime.printable import escaped


def said_by(*names: str) -> list[Message]:
    """One published week in which every name that comes from outside is one of these."""
    figures = [one for name in names for one in _named(name)]
    alerts = [
        one
        for name in names
        for one in (
            alert(scope={"criterion": name}, summary=name, evidence={name or "x": name}),
            alert("rater_drift", "no_data", scope={"rater": name}, summary=name),
        )
    ]
    return [report(*figures, bom=names[0] or "x"), *alerts]


def _named(name: str) -> list[Figure]:
    return [
        figure(scope={"generator": name}, lo=0.3, hi=0.9),
        figure(scope={"criterion": name, "slice": "all"}),
        figure("cumulative_pass_rate", scope={"slice": name, "attempt": "0"}),
        figure("cumulative_pass_rate", scope={"generator": name, "attempt": "1"}),
        figure("band_margin", health=Health.JUDGE, scope={"criterion": name, "metric": name, "slice": name}),
        figure("non_decision_rate", health=Health.JUDGE, scope={"criterion": name, "cause": name}),
        figure("gold_accuracy", health=Health.RATERS, scope={"criterion": name, "rater": name}),
        figure("defect_rate", None, health=Health.SERVED, reason=name or "none", scope={"stratum": name}),
        figure(name or "x", scope={name or "x": name}),
    ]


@settings(max_examples=6, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
@example("<script>alert(1)</script>")
def test_names_from_outside_stay_text(name: str) -> None:
    assert faults(html(page_of(*said_by(name)))) == []


def test_hostile_names_stay_text_and_are_shown() -> None:
    page = html(page_of(*said_by(*HOSTILE)))
    assert faults(page) == []
    texts = " ".join(read(page).texts)
    assert [name for name in HOSTILE if escaped(name)[:60] not in texts] == []


@pytest.mark.parametrize(
    "broken",
    [
        "<script>1</script>", "<img src=x>", "<p onclick=go()>", "<a href=https://example.org>", "<p><b></p>",
        '<b id="x"></b><i id="x"></i>', "<iframe></iframe>", '<g style="fill: url(#nowhere)"></g>',
    ],
)  # fmt: skip
def test_the_check_catches_a_broken_page(broken: str) -> None:
    try:
        found = faults(broken)
    except AssertionError as mismatch:
        found = [str(mismatch)]
    assert found


def test_the_example_page_is_whole_and_refers_to_nothing_outside() -> None:
    assert faults(example_html()) == []
    assert "default-src 'none'" in example_html()


def test_the_same_page_gives_the_same_bytes() -> None:
    assert html(example_page()) == example_html()


def test_every_number_of_the_page_is_in_the_document_and_the_other_way_round() -> None:
    texts = " ".join(read(example_html()).texts)
    document = Page.model_validate_json(example_page().model_dump_json())
    assert document == example_page()
    lines = [line for s in document.series for section in s.sections for p in section.panels for line in p.lines]
    assert len(lines) > 100
    for line in lines:
        assert (written(line.value, line.unit) if line.value is not None else f"Unavailable: {line.reason}") in texts


def test_every_chart_has_its_name_and_its_numbers_in_words() -> None:
    found = read(example_html())
    charts = found.tags.count("svg")
    assert charts >= 12
    assert found.tags.count("desc") == charts
    assert found.tags.count("title") == charts + 1


def test_what_does_not_exist_is_said_in_words_and_never_drawn() -> None:
    gone = figure("coverage", None, health=Health.JUDGE, reason="no verdict was made", scope={"criterion": "c1"})
    page = html(page_of(report(gone)))
    assert "svg" not in read(page).tags
    assert "Unavailable: no verdict was made" in " ".join(read(page).texts)
    assert "no canary run" in page


@pytest.mark.parametrize(("said", "words"), [([], "No week has any"), ([report(week="2026-W40")], "2026-W40")])
def test_a_week_without_figures_is_a_page_that_says_so(said: list[Message], words: str) -> None:
    page = html(page_of(*said))
    assert faults(page) == []
    assert f"No figures of {WEEK}" in page
    assert words in page


def test_several_boms_are_told_apart_and_each_has_its_own_sections() -> None:
    page = html(page_of(report(), report(bom="bom-2")))
    assert faults(page) == []
    assert "2 BOM versions judged in this week" in page
    assert page.count("<h2>Generator health</h2>") == 2


def test_an_alert_names_its_bom_version_where_there_are_several() -> None:
    one, two = (
        html(page_of(*reports, alert(bom="bom-1"))) for reports in ([report()], [report(), report(bom="bom-2")])
    )
    assert faults(two) == []
    assert "more drafts pass <code>bom-1</code>" in two
    assert "more drafts pass <code>" not in one
    assert two.count('<p class="alarm">1 alert: lenient judge</p>') == 1  # on the card of its own version


@pytest.mark.parametrize(("final", "word"), [(True, "Final"), (False, "Provisional")])
def test_final_and_provisional_are_told_with_the_revision(final: bool, word: str) -> None:
    page = html(page_of(report(revision=3, final=final)))
    assert f"<b>{word}</b>" in page
    assert "revision 3" in page


def test_the_running_week_is_said_to_run() -> None:
    assert "the week is still running" in html(page_of(report(week="2026-W49"), week="2026-W49", now=NOW))


def test_the_document_is_as_its_schema_says() -> None:
    assert REPORT_SCHEMA.read_bytes() == report_schema(), "run `make docs`"
    schema = json.loads(report_schema())
    document = json.loads(example_page().model_dump_json())
    jsonschema.validate(document, schema)
    assert document["document"] == SCHEMA
    del document["series"][0]["final"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema)
