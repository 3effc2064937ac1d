"""Event ids and hashes: the same cause always gives the same id, so a replay repeats it and readers can drop it."""

from __future__ import annotations

import hashlib
import json
from typing import Any
from uuid import UUID

import orjson

_NAMESPACE = UUID("6f1e8a52-3c0b-5d7e-9a41-2b8f7c6d5e40").bytes


def event_id(*parts: str | int) -> str:
    """uuid5 over the parts, in order: (kind, the id of the event that caused it, judged hash, BOM version).

    Parts are length-prefixed, so that no two different lists of parts give one id.
    """
    digest = hashlib.sha1(_NAMESPACE, usedforsecurity=False)
    for part in parts:
        raw = str(part).encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(raw))
        digest.update(raw)
    h = bytearray(digest.digest()[:16])
    h[6] = (h[6] & 0x0F) | 0x50
    h[8] = (h[8] & 0x3F) | 0x80
    x = h.hex()
    return f"{x[:8]}-{x[8:12]}-{x[12:16]}-{x[16:20]}-{x[20:]}"


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
