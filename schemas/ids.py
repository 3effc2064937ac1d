"""Event ids and hashes: the same cause always gives the same id, so a replay repeats it and readers can drop it."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from typing import Any
from uuid import UUID

import orjson

_NAMESPACE = UUID("6f1e8a52-3c0b-5d7e-9a41-2b8f7c6d5e40").bytes
_VARIANT = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}  # RFC 9562: two bits are fixed


def event_id(kind: str, *cause: str | int) -> str:
    """uuid5 over the parts, in order: (kind, the id of the event that caused it, judged hash, BOM version).

    Parts are length-prefixed, so that no two different lists of parts give one id.
    """
    digest = hashlib.sha1(_NAMESPACE + _spelt(kind) + _spelt(*cause), usedforsecurity=False)
    x = digest.hexdigest()
    return f"{x[:8]}-{x[8:12]}-5{x[13:16]}-{_VARIANT[x[16]]}{x[17:20]}-{x[20:32]}"


@lru_cache(maxsize=64, typed=True)  # kinds are few, and the messages that a record leads to have one cause
def _spelt(*parts: str | int) -> bytes:
    return "".join([f"{len(text)}:{text}" for text in map(str, parts)]).encode("utf-8", "surrogatepass")


def sha256_text(text: str) -> str:
    """Hex digest of the UTF-8 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def sha256_json(value: Any) -> str:
    """Hex digest of the canonical JSON of a value: sorted keys, no white space."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def canonical_json(value: Any) -> bytes:
    """Sorted keys, no white space, UTF-8. Integers beyond 64 bits stay exact (orjson refuses them)."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
