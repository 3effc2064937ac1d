"""Finding values in an item's metadata by role and dotted path (``specs.battery``, ``offers.0.price``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from schemas.drafts import Draft

MAX_LEAVES = 20_000


class Leaf(NamedTuple):
    """One value that is no container, and the keys that lead to it, outermost first."""

    keys: tuple[str, ...]
    value: JsonValue


def readable(draft: Draft, roles: Sequence[str]) -> list[JsonValue] | None:
    """The metadata of the items in these roles; None where there is no such item or one cannot be read."""
    found = [item.metadata for item in draft.context.items if item.role in roles]
    return found if found and all(metadata is not None for metadata in found) else None


def at_path(metadata: JsonValue, path: str) -> JsonValue:
    """The value at a dotted path, or None. A number indexes a list."""
    value = metadata
    for key in path.split("."):
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def leaves(value: JsonValue, keys: tuple[str, ...] = ()) -> Iterator[Leaf]:
    """Every value that is no container. Iterative, so that depth costs nothing; at most MAX_LEAVES."""
    stack: list[tuple[tuple[str, ...], JsonValue]] = [(keys, value)]
    for _ in range(MAX_LEAVES):
        if not stack:
            return
        path, here = stack.pop()
        if isinstance(here, dict):
            stack.extend(((*path, key), inner) for key, inner in reversed(here.items()))
        elif isinstance(here, list):
            stack.extend((path, inner) for inner in reversed(here))
        elif here is not None:
            yield Leaf(path, here)
