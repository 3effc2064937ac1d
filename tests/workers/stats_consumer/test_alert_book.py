"""An alert is told once, again after a while, and when it ends; what cannot be computed is a state of its own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from schemas.alerts import AlertKind, AlertState, Severity
from workers.stats_consumer.alert_book import AlertBook
from workers.stats_consumer.outcome import Fires, NoData, Outcome, Quiet

NOW = datetime(2026, 9, 7, tzinfo=UTC)
KIND, SCOPE = AlertKind.COVERAGE_LOW, {"criterion": "c1"}
FIRES, QUIET, NO_DATA = (
    Fires(KIND, SCOPE, "60 % decided", {"coverage": 0.6}),
    Quiet(KIND, SCOPE),
    NoData(KIND, SCOPE, "x"),
)


def told(book: AlertBook, outcome: Outcome, hours: float = 0.0) -> list[tuple[AlertState, int]]:
    alerts = book.tell([outcome], window="2026-W37", bom_version="bom-1", now=NOW + timedelta(hours=hours))
    return [(alert.state, alert.times) for alert in alerts]


def test_a_firing_alert_is_told_once_then_again_after_a_day_then_resolved() -> None:
    book = AlertBook()
    assert told(book, FIRES) == [(AlertState.FIRING, 1)]
    assert told(book, FIRES, hours=23) == []
    assert told(book, FIRES, hours=24) == [(AlertState.FIRING, 2)]
    assert told(book, QUIET, hours=25) == [(AlertState.RESOLVED, 2)]
    assert told(book, QUIET, hours=26) == []


def test_no_data_is_told_once_and_pages_nobody_unless_the_alert_was_firing() -> None:
    book = AlertBook()
    (first,) = book.tell([NO_DATA], window="w", bom_version="b", now=NOW)
    assert (first.state, first.severity) == (AlertState.NO_DATA, Severity.INFO)
    assert told(book, NO_DATA, hours=100) == []
    told(book, FIRES, hours=101)
    (blind,) = book.tell([NO_DATA], window="w", bom_version="b", now=NOW + timedelta(hours=102))
    assert (blind.state, blind.severity) == (AlertState.NO_DATA, Severity.TICKET)
    assert told(book, QUIET, hours=103) == []  # what was never seen again is not said to be well


def test_a_restart_forgets_nothing() -> None:
    book = AlertBook()
    told(book, FIRES)
    rows = {name: row for name, row in book.changes().items() if row is not None}
    assert rows == book.rows()
    assert told(AlertBook(rows), FIRES, hours=1) == []
    assert told(AlertBook(rows), QUIET, hours=1) == [(AlertState.RESOLVED, 1)]


def test_two_scopes_are_two_alerts_and_the_key_is_the_messages_own() -> None:
    book = AlertBook()
    other = FIRES._replace(scope={"criterion": "c2"})
    alerts = book.tell([FIRES, other], window="w", bom_version="b", now=NOW)
    assert [f"a|{alert.key()}" for alert in alerts] == sorted(book.rows())
    assert alerts[0].runbook == "docs/runbook.md#coverage_low"
