from __future__ import annotations

from datetime import UTC, datetime

import pytest

from workers.judge.providers.http import MAX_RETRY_AFTER_S, retry_after

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("2", 2.0),
        (" 0.5 ", 0.5),
        ("Mon, 30 Nov 2026 12:00:07 GMT", 7.0),  # RFC 9110, 10.2.3
        ("Mon, 30 Nov 2026 12:00:07 -0000", 7.0),
        ("Mon, 30 Nov 2026 11:59:00 GMT", 0.0),
        ("99999999999999999999", MAX_RETRY_AFTER_S),
        (None, None),
        ("", None),
        ("soon", None),
        ("-3", None),
        ("1e3", None),
        ("٣", None),
        ("nan", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, now=NOW) == seconds
