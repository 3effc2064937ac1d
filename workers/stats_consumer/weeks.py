"""ISO weeks as numbered panes of event time: Monday to Sunday, UTC."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta


def pane_of(moment: datetime) -> int:
    """The number of the week a moment lies in. Weeks in a row have numbers in a row. ``moment`` is in UTC.

    >>> pane_of(datetime(2026, 11, 30)) - pane_of(datetime(2026, 11, 29))
    1
    """
    return (moment.toordinal() - 1) // 7


def week_name(pane: int) -> str:
    """As people write it.

    >>> week_name(pane_of(datetime(2026, 11, 30)))
    '2026-W49'
    """
    year, week, _ = date.fromordinal(pane * 7 + 1).isocalendar()
    return f"{year}-W{week:02d}"


def pane_named(week: str) -> int:
    """The number of ``2026-W49``. Raises ValueError for a week that its year does not have."""
    year, number = week.split("-W")
    return (date.fromisocalendar(int(year), int(number), 1).toordinal() - 1) // 7


def end_of(pane: int) -> datetime:
    """The first moment after the week."""
    return datetime.combine(date.fromordinal(pane * 7 + 8), datetime.min.time(), tzinfo=UTC)


def last_closed(now: datetime, *, lateness: timedelta = timedelta(0)) -> int:
    """The newest week that ended at least ``lateness`` ago."""
    return pane_of(now - lateness) - 1
