"""Replies that are no verdict, whatever form was asked for: written by hand, mutated, or plain noise."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any, Final

from schemas.verdict_space import Label
from workers.judge.providers.scripted import Answer

_LABELS: Final = (*map(str, Label), "A", "B", "TIE", "5")
_JUNK: Final = ("passed", "PASS", "Pass ", "ok", "maybe", "true", "1/1", "pass|fail", "none", "p\u0430ss", "", "fail?")
_WRONG_TYPES: Final[tuple[Any, ...]] = (True, False, None, 1.5, ["pass"], {"label": "pass"})
_NOISE: Final = 'pasfil {}[]":,.\n\\/*#<>`0123456789 verdict score null true é✓'

BY_HAND: Final = (
    "",
    "   \n\t",
    "pass",
    "**fail**",
    "PASS. The text meets every requirement.",
    "Verdict: pass",
    "I would let this one through, on balance.",
    "On a scale of 0 to 1 I give 1.",
    "There are 3 reasons to pass it, and my score is 9.",
    "Neither",
    "Tie, or nearly so",
    "true",
    "null",
    "1",
    '"pass"',
    '["pass"]',
    '{"pass": true}',
    '{"verdict": "pass"}',
    '{"winner": "neither"}',
    '{"score": "NaN"}',
    '{"score": 1e999}',
    "{'label': 'pass', 'reason': 'single quotes'}",
    '{"label": "pass", "reason": "a comma too many",}',
    '{"label": "pass", "reason": "a comment" /* here */}',
    '{"label": "pass", "label": "fail", "reason": "twice"}',
    '{"label": "pass", "reason": NaN}',
    '{"label": "pass", "reason": "cut',
    '[{"label": "pass", "reason": "in an array"}]',
    "<think>It passes: " + '{"label": "pass", "reason": "thought"}' + "</think>",
    "[ERROR 500] upstream unavailable",
    "[" * 5_000,
    '{"a":' * 2_000 + "1" + "}" * 2_000,
)


def unreadable_replies(rng: random.Random, count: int) -> Iterator[Answer]:
    """The written ones, replies that the provider cut or filtered, then ``count`` made ones. None holds a verdict."""
    yield from (Answer(reply=text) for text in BY_HAND)
    whole = _object(rng)
    for finish_reason in ("length", "content_filter"):
        yield Answer(reply=whole, finish_reason=finish_reason)
    for at in range(count):
        yield Answer(reply=_MAKERS[at % len(_MAKERS)](rng))


def _object(rng: random.Random, **changes: Any) -> dict[str, Any]:
    whole = {"label": rng.choice(("pass", "fail")), "reason": "Because.", "evidence_spans": ["x"]}
    return {**whole, "guideline_clause": "G-1", **changes}


def _cut(rng: random.Random) -> str:
    text = json.dumps(_object(rng))
    return text[: rng.randrange(1, len(text))]


def _twice(rng: random.Random) -> str:
    return f"{json.dumps(_object(rng))}{rng.choice(('', ' ', chr(10), ' or rather '))}{json.dumps(_object(rng))}"


def _other_label(rng: random.Random) -> str:
    return json.dumps(_object(rng, label=rng.choice(_JUNK)))


def _wrong_type(rng: random.Random) -> str:
    return json.dumps(_object(rng, label=rng.choice(_WRONG_TYPES)))


def _wrong_key(rng: random.Random) -> str:
    key = rng.choice(("Label", "verdict", "labels", "decision", "label "))
    return json.dumps({key if name == "label" else name: value for name, value in _object(rng).items()})


def _quoted(rng: random.Random) -> str:
    return json.dumps(json.dumps(_object(rng)))


def _prose(rng: random.Random) -> str:
    return f"My {rng.choice(('verdict', 'label', 'answer'))} is {rng.choice(_LABELS)}, I think."


def _noise(rng: random.Random) -> str:
    return "".join(rng.choice(_NOISE) for _ in range(rng.randrange(1, 200)))


_MAKERS: Final = (_cut, _twice, _other_label, _wrong_type, _wrong_key, _quoted, _prose, _noise)
