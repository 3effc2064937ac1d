"""Fields of a draft's JSON that nobody reads: their names are unknown, or they are given twice. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Final, NamedTuple

from schemas.drafts import Context, ContextItem, Draft, Revises
from schemas.message import Part
from workers.runtime.nearest import nearest
from workers.runtime.printable import cut, escaped

MAX_NAMES = 1_000
_NAME_CHARS = 80

METADATA: Final = "context.items.metadata"
"""Below it anybody's own fields stand."""

_PARTS: Final[dict[str, type[Part]]] = {
    "": Draft,
    "context": Context,
    "context.items": ContextItem,
    "revises": Revises,
}
_KNOWN: Final = {at: [f"{at}.{name}" if at else name for name in part.model_fields] for at, part in _PARTS.items()}


class Why(StrEnum):
    UNKNOWN = "unknown"
    TWICE = "twice"


class Ignored(NamedTuple):
    """One field, by its path: hostile text, cut."""

    field: str
    why: Why

    def told(self) -> str:
        """What is wrong and what may have been meant, fit to be shown."""
        shown = escaped(self.field)
        if self.why is Why.TWICE:
            return f"field {shown} is given twice; only the last one counts"
        meant = nearest_field(self.field)
        return f"unknown field {shown} is ignored{'' if meant is None else f'; did you mean {meant}?'}"


def ignored_in(raw: bytes | str, *, at: str = "") -> frozenset[Ignored]:
    """What is passed over in a JSON text that is known to be a draft, or what stands in one ``at`` a path."""
    return frozenset(_look(json.loads(raw, object_pairs_hook=_Pairs), at))


def nearest_field(path: str) -> str | None:
    """The field that may have been meant: one of the same part rather than one that stands elsewhere."""
    at, _, name = path.rpartition(".")
    others = [field for part, fields in _KNOWN.items() if part != at for field in fields]
    by_name = {field.rpartition(".")[2]: field for field in [*reversed(others), *_KNOWN.get(at, [])]}
    meant = nearest(name, by_name)
    return None if meant is None else by_name[meant]


class Tally:
    """How many drafts each ignored field was in. Names beyond MAX_NAMES are counted together as ``others``."""

    def __init__(self) -> None:
        self.drafts: Counter[Ignored] = Counter()
        self.others = 0

    def add(self, ignored: frozenset[Ignored]) -> None:
        for one in ignored:
            if one in self.drafts or len(self.drafts) < MAX_NAMES:
                self.drafts[one] += 1
            else:
                self.others += 1


class _Pairs(list[tuple[str, Any]]):
    """An object with everything that was written in it."""


def _look(value: Any, path: str) -> Iterator[Ignored]:
    if isinstance(value, _Pairs):
        yield from _look_into(value, path)
    elif isinstance(value, list):
        for inner in value:
            yield from _look(inner, path)


def _look_into(pairs: _Pairs, path: str) -> Iterator[Ignored]:
    part, seen = _PARTS.get(path), set()
    for name, inner in pairs:
        at = f"{path}.{name}" if path else name
        if name in seen:
            yield Ignored(cut(at, _NAME_CHARS), Why.TWICE)
        seen.add(name)
        if part is not None and name not in part.model_fields:
            yield Ignored(cut(at, _NAME_CHARS), Why.UNKNOWN)
        else:
            yield from _look(inner, at)
