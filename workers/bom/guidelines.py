"""guidelines.md: the one source for raters and judges. A heading that begins with a clause id is a clause."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from schemas.errors import BomError

_CLAUSE = re.compile(r"^#{1,6}\s+([A-Z][A-Za-z]{0,15}-\d+(?:\.\d+)*)\b[ .:—-]*(.*)$")
_VERSION = re.compile(r"^(?:guideline_)?version:\s*[\"']?([\w.\-]+)[\"']?\s*$", re.IGNORECASE)


class Guidelines(NamedTuple):
    version: str
    clauses: Mapping[str, str]  # id -> title and text


def parse_guidelines(text: str) -> Guidelines:
    """The version and the clauses. Raises BomError without a version line, without clauses, or on an id given twice."""
    version: str | None = None
    clauses: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines():
        if version is None and (found := _VERSION.match(line.strip())):
            version = found.group(1)
        elif heading := _CLAUSE.match(line):
            if heading.group(1) in clauses:
                raise BomError(f"guidelines.md: clause {heading.group(1)} is given twice")
            current = clauses[heading.group(1)] = [heading.group(2).strip()]
        elif line.startswith("#"):
            current = None
        elif current is not None:
            current.append(line)
    if version is None:
        raise BomError("guidelines.md: no version; add a line such as `version: 2026.11.1` at the top")
    if not clauses:
        raise BomError("guidelines.md: no clause; a clause is a heading such as `## G-1.1 Numbers match`")
    return Guidelines(version, {name: "\n".join(lines).strip() for name, lines in clauses.items()})
