"""Whatever a model might send back, and what must be true of how it is read."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

from schemas.verdict_space import Label
from workers.judge.parsing import parse_reply
from workers.judge.schema import REPLY_LABELS

PASS = '{"label": "pass", "reason": "ok"}'
FAIL = '{"label": "fail", "reason": "wrong", "evidence_spans": ["20 hours"], "guideline_clause": "C1"}'

_PIECES = (
    "{", "}", "[", "]", '"', ",", ":", "\\", "```", "json", "<think>", "</think>", PASS, FAIL, '{"label":', '"pass"',
    '"reason":', "NaN", "1e999", "\ud800", "\0", "\ufeff", " ", "\n", "I cannot evaluate this", "//", "pass",
)  # fmt: skip
_BY_LETTER = {chr(ord("A") + number): piece for number, piece in enumerate(_PIECES)}


class AnyReply(NamedTuple):
    text: str
    finish_reason: str | None


_JUMBLED = st.text(sorted(_BY_LETTER), max_size=12).map(lambda word: "".join(_BY_LETTER[letter] for letter in word))
"""Pieces in any order. Words of letters, since hypothesis draws a word three times as fast as a list of pieces."""

ANY_REPLY = st.builds(AnyReply, st.one_of(st.text(max_size=200), _JUMBLED), st.sampled_from([None, "stop", "x"]))


def read_once(reply: AnyReply) -> Label:
    """One verdict, or an abstain with a cause: the label that the reply is read as. Anything else is an error."""
    parsed = parse_reply(reply.text, finish_reason=reply.finish_reason)
    assert parsed.label in REPLY_LABELS
    assert parsed.label.decided is (parsed.cause is None)
    assert parsed.label.decided or parsed.detail
    if reply.text.count('"label"') != 1:
        assert parsed.label is Label.ABSTAIN or "<think>" in reply.text
    return parsed.label
