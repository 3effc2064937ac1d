"""An alert is told once, again after a while, and when it ends; what cannot be computed is a state of its own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from schemas.alerts import Alert, AlertKind, AlertState, Severity
from workers.stats_consumer.alert_book import AlertBook
from workers.stats_consumer.outcome import Fires, Looked, NoData, Outcome, Quiet

NOW = datetime(2026, 9, 7, tzinfo=UTC)
KIND, SCOPE = AlertKind.COVERAGE_LOW, {"criterion": "c1"}
FIRES, QUIET, NO_DATA = (
    Fires(KIND, SCOPE, "60 % decided", {"coverage": 0.6}),
    Quiet(KIND, SCOPE),
    NoData(KIND, SCOPE, "x"),
)
OTHER = FIRES._replace(scope={"criterion": "c2"})


def tell(book: AlertBook, *looked: Looked, hours: float = 0.0) -> list[Alert]:
    return book.tell(looked, window="2026-W37", now=NOW + timedelta(hours=hours))


def told(book: AlertBook, *outcomes: Outcome, hours: float = 0.0) -> list[tuple[AlertState, int]]:
    """What is told of one BOM version after a look with these outcomes."""
    return [(alert.state, alert.times) for alert in tell(book, Looked("bom-1", outcomes), hours=hours)]


def test_a_firing_alert_is_told_once_then_again_after_a_day_then_resolved() -> None:
    book = AlertBook()
    assert told(book, FIRES) == [(AlertState.FIRING, 1)]
    assert told(book, FIRES, hours=23) == []
    assert told(book, FIRES, hours=24) == [(AlertState.FIRING, 2)]
    assert told(book, QUIET, hours=25) == [(AlertState.RESOLVED, 2)]
    assert told(book, QUIET, hours=26) == []


def test_no_data_is_told_once_and_is_a_ticket_only_if_the_alert_was_firing() -> None:
    book = AlertBook()
    (first,) = tell(book, Looked("bom-1", [NO_DATA]))
    assert (first.state, first.severity) == (AlertState.NO_DATA, Severity.INFO)
    assert told(book, NO_DATA, hours=100) == []
    told(book, FIRES, hours=101)
    (blind,) = tell(book, Looked("bom-1", [NO_DATA]), hours=102)
    assert (blind.state, blind.severity, blind.times) == (AlertState.NO_DATA, Severity.TICKET, 1)


def test_what_could_not_be_computed_is_resolved_when_it_can_be_and_is_well() -> None:
    fired, never = AlertBook(), AlertBook()
    told(fired, FIRES)
    told(fired, NO_DATA, hours=1)
    told(never, NO_DATA)
    assert told(fired, QUIET, hours=2) == [(AlertState.RESOLVED, 1)]
    assert told(never, QUIET, hours=2) == [(AlertState.RESOLVED, 0)]  # 0: it is told on the topic alone
    assert (fired.firing(), fired.rows(), never.rows()) == (0, {}, {})


def test_a_restart_forgets_nothing() -> None:
    book = AlertBook()
    told(book, FIRES)
    rows = {name: row for name, row in book.changes().items() if row is not None}
    assert rows == book.rows()
    assert told(AlertBook(rows), FIRES, hours=1) == []
    assert told(AlertBook(rows), QUIET, hours=1) == [(AlertState.RESOLVED, 1)]


def test_two_scopes_are_two_alerts_and_the_key_is_the_messages_own() -> None:
    book = AlertBook()
    alerts = tell(book, Looked("b", [FIRES, OTHER]))
    assert [f"a|{alert.key()}" for alert in alerts] == sorted(book.rows())
    assert alerts[0].runbook == "docs/runbook.md#coverage_low"


def test_two_bom_versions_fire_and_end_apart() -> None:
    book = AlertBook()
    fired = tell(book, Looked("bom-1", [FIRES]), Looked("bom-2", [FIRES]))
    assert len({alert.key() for alert in fired} | {alert.event_id for alert in fired}) == 4
    ended = tell(book, Looked("bom-1", [QUIET]), Looked("bom-2", [FIRES]), hours=1)
    assert [(alert.bom_version, alert.state) for alert in ended] == [("bom-1", AlertState.RESOLVED)]
    assert book.firing() == 1


def test_what_stood_of_a_bom_version_that_is_not_looked_at_any_more_ends() -> None:
    book = AlertBook()
    tell(book, Looked("bom-1", [FIRES]))
    (ended,) = tell(book, Looked("bom-2", [QUIET]), hours=1)
    assert (ended.state, ended.bom_version, ended.severity) == (AlertState.RESOLVED, "bom-1", Severity.INFO)
    assert ended.summary == "bom-1 judges no more, and its weeks are final"


def test_what_is_looked_at_while_a_version_judges_ends_when_it_judges_nothing() -> None:
    book = AlertBook()
    lasting = Fires(AlertKind.BELOW_BAND, SCOPE, "below", {})
    tell(book, Looked("bom-1", [FIRES, lasting]))
    (ended,) = tell(book, Looked("bom-1", [lasting], ended={KIND}), hours=1)
    assert (ended.kind, ended.state, ended.summary) == (KIND, AlertState.RESOLVED, "bom-1 has judged nothing this week")
    assert book.firing() == 1


def test_a_scope_that_nobody_speaks_of_any_more_is_no_data_not_well() -> None:
    book = AlertBook()
    told(book, FIRES, OTHER)
    (blind,) = tell(book, Looked("bom-1", [FIRES]), hours=1)
    assert (blind.scope, blind.state, blind.severity) == (OTHER.scope, AlertState.NO_DATA, Severity.TICKET)
    assert told(book, FIRES, hours=2) == []


def test_a_kind_that_was_not_looked_at_stands_as_it_stood() -> None:
    book = AlertBook()
    told(book, FIRES)
    assert told(book, hours=1) == []
    assert book.firing() == 1
