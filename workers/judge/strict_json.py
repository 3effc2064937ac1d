"""JSON as a judge's reply must be written: bounded before it is read, and read without mercy.

Python's own decoder with two hooks: duplicate keys, ``NaN``, infinities and numbers that overflow are refused. (orjson
turns NaN into null, keeps the last of two keys and rounds big integers.)
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

MAX_REPLY_CHARS = 64 * 1024
MAX_DEPTH = 32

Json = Any
"""What the decoder makes: dict, list, str, int, float, bool or None."""


class NotStrictJson(ValueError):
    """The text is no JSON that we read. The message names the defect and never quotes the text."""


def decode(text: str) -> Json:
    """The one JSON value that the whole text is. Raises NotStrictJson."""
    value, end = decode_at(text, _SPACE.match(text).end())  # type: ignore[union-attr]  # it matches anything
    if _SPACE.fullmatch(text, end) is None:
        raise NotStrictJson("more than one JSON value")
    return value


def decode_at(text: str, start: int) -> tuple[Json, int]:
    """The JSON value that begins at ``start``, and where it ends. Raises NotStrictJson."""
    if len(text) - start > MAX_REPLY_CHARS:
        raise NotStrictJson(f"longer than {MAX_REPLY_CHARS} characters")
    if _deeper_than(MAX_DEPTH, text, start):
        raise NotStrictJson(f"nested deeper than {MAX_DEPTH}")
    try:
        return _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise NotStrictJson(f"not valid JSON: {_safe(error.msg)} at character {error.pos}") from error
    except ValueError as error:  # an integer of more digits than Python converts
        raise NotStrictJson(
            str(error) if isinstance(error, NotStrictJson) else "a number has too many digits"
        ) from error


def _deeper_than(limit: int, text: str, start: int) -> bool:
    """True when brackets outside strings nest deeper than the limit. Linear, whatever the text."""
    if text.count("{", start) + text.count("[", start) <= limit:
        return False
    depth = 0
    for token in _TOKEN.finditer(text, start):
        if token[0] in "{[":
            depth += 1
            if depth > limit:
                return True
        elif token[0] in "}]":
            depth -= 1
    return False


def _no_duplicates(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotStrictJson("a key is given twice")
    return found


def _no_constant(name: str) -> Json:
    raise NotStrictJson(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise NotStrictJson("a number overflows")
    return number


def _safe(message: str) -> str:
    """The decoder's message without the character it may quote."""
    return message.partition(":")[0][:60]


_DECODER = json.JSONDecoder(object_pairs_hook=_no_duplicates, parse_constant=_no_constant, parse_float=_finite)
_SPACE = re.compile(r"[ \t\r\n]*")
# The closing quote is optional, so that an unclosed string ends the scan instead of starting it again at every quote.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
