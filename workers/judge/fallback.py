"""The fallback template: what is shown instead of a dropped draft. Plain text with slots such as ``{name}``."""

from __future__ import annotations

import re

from pydantic import JsonValue

from schemas.drafts import Draft
from schemas.errors import BomError

_COMMENT = re.compile(r"^\s*<!--.*?-->\s*", re.DOTALL)
_SLOT = re.compile(r"\{([^{}\n]*)\}")
_PATH = re.compile(r"^[\w\-]+(\.[\w\-]+)*$")
_MAX_VALUE_CHARS = 200


def slots_of(template: str) -> tuple[str, ...]:
    """The metadata paths a template needs. Raises BomError on a slot that is no path, or an unbalanced brace."""
    body = _COMMENT.sub("", template)
    slots = tuple(dict.fromkeys(_SLOT.findall(body)))
    for slot in slots:
        if not _PATH.match(slot):
            raise BomError(f"fallback.md: {{{slot[:40]}}} is no slot; write a metadata path such as {{name}}")
    if re.search(r"[{}]", _SLOT.sub("", body)):
        raise BomError("fallback.md: a brace without its partner; slots look like {name}")
    return slots


def fill(template: str, draft: Draft) -> str | None:
    """The text to show for this item; None when the item's target metadata lacks a value that the template needs."""
    metadata = next((item.metadata for item in draft.context.items if item.role == "target"), None)
    values = {slot: _value(metadata, slot) for slot in slots_of(template)}
    if any(value is None for value in values.values()):
        return None
    return _SLOT.sub(lambda slot: str(values[slot.group(1)]), _COMMENT.sub("", template)).strip()


def _value(metadata: JsonValue, path: str) -> str | None:
    """A short scalar at a path, in one line of printable characters; None where there is none."""
    at: JsonValue = metadata
    for part in path.split("."):
        at = at.get(part) if isinstance(at, dict) else None
    if isinstance(at, bool) or not isinstance(at, str | int | float):
        return None
    text = "".join(c for c in " ".join(str(at).split()) if c.isprintable())
    return text if 0 < len(text) <= _MAX_VALUE_CHARS else None
