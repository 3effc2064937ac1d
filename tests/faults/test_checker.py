"""The checker finds every kind of wrong that it claims to find; a run without fault is without findings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.faults.checker import Raw, check


def draft(offset: int, key: bytes = b"sku-1") -> Raw:
    return Raw(0, offset, key, b"{}", {})


def verdict(offset: int, *, key: bytes = b"sku-1", event: str | None = None, **fields: Any) -> Raw:
    value = {
        "type": "draft_verdict", "event_id": event or f"v{offset}", "draft_uri": f"kafka://assay.drafts/0/{offset}",
        "item_id": key.decode(), "round_id": f"r{offset}", "outcome": "serve", "verdicts": [],
        "judged_at": "2026-11-30T12:00:00Z",
    }  # fmt: skip
    return Raw(0, 0, key, json.dumps(value | fields).encode(), {})


def decision(offset: int, *, event: str | None = None, decision: str = "served_first_pass") -> Raw:
    value = {
        "type": "item_decision", "event_id": event or f"d{offset}", "item_id": "sku-1", "round_id": f"r{offset}",
        "decision": decision, "decided_at": "2026-11-30T12:00:00Z",
    }  # fmt: skip
    return Raw(0, 0, b"sku-1", json.dumps(value).encode(), {})


def letter(offset: int) -> Raw:
    return Raw(0, 0, b"k", b"", {"assay-dlq-partition": b"0", "assay-dlq-offset": str(offset).encode()})


def kinds(*arguments: Any) -> list[str]:
    return [line.partition(":")[0] for line in check(*arguments).wrong]


def test_a_run_without_fault_is_without_findings_and_repetitions_are_counted() -> None:
    found = check(
        [draft(0), draft(1), draft(2)],
        [verdict(0), verdict(1), verdict(1, judged_at="2026-11-30T12:00:01Z"), verdict(0)],
        [decision(0), decision(1), decision(1)],
        [letter(2)],
    )
    assert found.wrong == []
    assert (found.drafts, found.verdicts, found.dead_letters, found.decisions, found.repeated) == (3, 2, 1, 2, 2)


@pytest.mark.parametrize(
    ("expected", "topics"),
    [
        ("lost", ([draft(0), draft(1)], [verdict(0)], [decision(0)], [])),
        ("two fates", ([draft(0)], [verdict(0)], [decision(0)], [letter(0)])),
        ("invented", ([], [verdict(0)], [decision(0)], [])),
        ("invented", ([], [], [], [letter(0)])),
        ("order", ([draft(0), draft(1)], [verdict(1), verdict(0)], [decision(0), decision(1)], [])),
        ("changed repetition", ([draft(0)], [verdict(0), verdict(0, outcome="drop")], [decision(0)], [])),
        ("changed repetition", ([draft(0)], [verdict(0)], [decision(0), decision(0, decision="dropped")], [])),
        ("decided twice", ([draft(0)], [verdict(0)], [decision(0), decision(0, event="other")], [])),
        ("not decided", ([draft(0)], [verdict(0)], [], [])),
        ("decided without a verdict", ([draft(0)], [verdict(0, outcome="revise")], [decision(0)], [])),
    ],
)
def test_each_kind_of_wrong_is_found(expected: str, topics: tuple[list[Raw], ...]) -> None:
    assert expected in kinds(*topics)


def test_a_round_that_waits_for_a_revision_needs_no_decision() -> None:
    assert kinds([draft(0)], [verdict(0, outcome="revise")], [], []) == []


@pytest.mark.parametrize("owned", [True, False])
def test_a_changed_repetition_says_whether_a_verdict_owned_to_be_without_the_cache(owned: bool) -> None:
    flagged = [{"label": "abstain", "flags": ["cache_down"] if owned else ["re_asked"]}]
    again = verdict(0, outcome="undecided", verdicts=flagged, judged_at="2026-11-30T12:00:09Z")
    (changed,) = check([draft(0)], [verdict(0), again], [decision(0)], []).changed
    assert (changed.owned, changed.round_id, changed.again_at.second) == (owned, "r0", 9)
