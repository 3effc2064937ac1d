"""What the topics say now, whatever order and however often they say it."""

from __future__ import annotations

import random

from tests.workers.report.specimens import NOW, WEEK, alert, days, published, report


def test_the_newest_report_of_a_week_and_bom_counts_whatever_order_they_come_in() -> None:
    said = [report(revision=n, at=NOW + days(n)) for n in range(4)] + [report(revision=9, bom="bom-2")]
    for seed in range(5):
        random.Random(seed).shuffle(said)
        newest = published(*said, *said[:2]).of_week(WEEK)
        assert {bom: r.revision for bom, r in newest.items()} == {"bom-1": 3, "bom-2": 9}


def test_after_a_redis_that_forgot_the_later_report_counts_though_its_revision_is_lower() -> None:
    newest = published(report(revision=7), report(revision=0, at=NOW + days(1))).of_week(WEEK)
    assert newest["bom-1"].revision == 0


def test_an_alert_told_twice_is_one() -> None:
    assert len(published(alert(), alert()).alerts) == 1
