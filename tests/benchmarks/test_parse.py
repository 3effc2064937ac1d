from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.parse import CLAUSES, replies
from schemas.verdict_space import Label
from tests.workers.judge import any_reply
from tests.workers.judge.any_reply import AnyReply, read_once
from workers.judge.parsing import parse_reply
from workers.judge.reading import ParsedReply


def test_the_speed_is_that_of_reading_verdicts_and_not_of_giving_up() -> None:
    labels = Counter(parse_reply(text, finish_reason="stop", clauses=CLAUSES).label for text in replies())
    assert labels == {Label.PASS: 10, Label.FAIL: 9, Label.ABSTAIN: 1}  # by hand: the one without a verdict is a fail's


WITHOUT_CAUSE, OFF_MENU, DECIDED = map(ParsedReply, (Label.ABSTAIN, Label.NOT_IMPLEMENTED, Label.PASS))


@pytest.mark.parametrize("broken", [WITHOUT_CAUSE, OFF_MENU, DECIDED])
def test_the_fuzz_sees_a_parser_that_loses_the_cause_leaves_the_menu_or_decides_from_prose(
    broken: ParsedReply[Label], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(any_reply, "parse_reply", lambda *_, **__: broken)
    with pytest.raises(AssertionError):
        read_once(AnyReply("It passes.", None))
