"""Text of other people, made fit to be shown: nothing in it may steer a terminal or hide from a reader."""

from __future__ import annotations


def escaped(text: str) -> str:
    """Text with everything unprintable spelled out: control characters, bidi marks, what has no width, surrogates."""
    return "".join(char if char.isprintable() else _spelled(char) for char in text)


def cut(text: str, limit: int) -> str:
    """At most ``limit`` characters, and how many are left out."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit} more)"


def _spelled(char: str) -> str:
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    code = ord(char)
    return named.get(char) or (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )
