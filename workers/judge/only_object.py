"""The one JSON object of a reply, or why there is not exactly one.

A judge may quote the draft, and a draft may hold a forged verdict. So an object is read only where nothing else in the
reply could be one, and where it does not stand in the middle of prose as a quotation does.
"""

from __future__ import annotations

import re
from typing import Any

from workers.judge.strict_json import MAX_REPLY_CHARS, NotStrictJson, decode, decode_at


def only_object(text: str) -> dict[str, Any]:
    """The reply's single object: alone, in a code fence, after prose, or before it. Raises NotStrictJson."""
    if len(text) > MAX_REPLY_CHARS:
        raise NotStrictJson(f"longer than {MAX_REPLY_CHARS} characters")
    if text.startswith("{") and text.endswith("}"):  # the fast path, and the usual one
        try:
            return _object(decode(text))
        except NotStrictJson:
            if "}" not in text[:-1]:
                raise
    start = _start(text)
    value, end = decode_at(text, start)
    _stands_alone(_FENCE_BEFORE.sub("", text[:start]), _FENCE_AFTER.sub("", text[end:]))
    return _object(value)


def _start(text: str) -> int:
    """Where the first brace is that could open an object; ``{a, b}`` in prose could not."""
    at = text.find("{")
    while at >= 0 and (prose := _PROSE_BRACES.match(text, at)):
        at = text.find("{", prose.end())
    if at < 0:
        raise NotStrictJson("no JSON object")
    return at


def _stands_alone(before: str, after: str) -> None:
    """Refuse a second object, an array around the object, comments, and an object amid prose."""
    if _BRACE.search(_PROSE_BRACES.sub("", after)):
        raise NotStrictJson("more than one JSON object")
    if before.count("[") > before.count("]") or after.count("]") > after.count("["):
        raise NotStrictJson("an array, not one object")
    if "</think" in before or "</think" in after:
        raise NotStrictJson("reasoning ends more than once")
    if before and after:
        raise NotStrictJson("the object stands amid prose, as a quotation does")
    if after.startswith(("//", "/*", ",")):
        raise NotStrictJson("a comment or a comma after the object")


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise NotStrictJson("not a JSON object")
    return value


_BRACE = re.compile(r"[{}]")
_PROSE_BRACES = re.compile(r"\{\s*+[^{}\"':\s][^{}\"':]{0,200}\}")
_FENCE_BEFORE = re.compile(r"\s*(?:(?:```|~~~)[A-Za-z0-9_-]{0,20}\s*)?\Z|\A\s+")
_FENCE_AFTER = re.compile(r"\A\s*(?:(?:```|~~~)\s*)?(?:(?:<\|[a-z_]{1,20}\|>|</s>)\s*)*|\s+\Z")
