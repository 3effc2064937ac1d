"""``make docs``: the README's generated tables, between their comment markers, as the code has them now."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from workers.cli import settings, topics

README = Path(__file__).parents[1] / "README.md"
TABLES: Mapping[str, Callable[[], str]] = {"topics": topics.markdown_table, "settings": settings.markdown_table}


def written(text: str) -> str:
    """The text with every table renewed. Raises ValueError where a table's markers are missing."""
    for name, table in TABLES.items():
        marked = re.compile(rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- /{name} -->)", re.DOTALL)
        found = marked.search(text)
        if found is None:
            raise ValueError(f"README.md has no markers for the {name} table")
        text = text[: found.end(1)] + table() + "\n" + text[found.start(2) :]
    return text


if __name__ == "__main__":
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
