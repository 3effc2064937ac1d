"""``make docs``: the README's generated tables and the report's JSON Schema, as the code has them now."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import orjson

from workers.cli import settings, topics
from workers.report.page import Page

README = Path(__file__).parents[1] / "README.md"
REPORT_SCHEMA = README.parent / "docs" / "weekly-report.schema.json"
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


def report_schema() -> bytes:
    """The JSON Schema of ``assay report --json``."""
    return orjson.dumps(Page.model_json_schema(mode="serialization"), option=orjson.OPT_INDENT_2) + b"\n"


if __name__ == "__main__":
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
    REPORT_SCHEMA.write_bytes(report_schema())
