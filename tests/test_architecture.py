"""The house: who may import whom. An arrow that points the wrong way fails here, with the line that draws it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("schemas", "stats", "workers")
ROLES = (
    "judge", "reflector", "stats_consumer", "replay", "embedded", "bom", "cli", "runtime", "dead_letters",
    "conformance", "canary", "hitl", "local", "publish", "report", "trace",
)  # fmt: skip

ROLE_MAY_IMPORT = {
    "runtime": {"runtime"},
    "judge": {"judge", "runtime"},
    "bom": {"bom", "judge"},
    "conformance": {"conformance", "bom", "judge", "runtime"},
    "dead_letters": {"dead_letters", "runtime"},
    "canary": {"canary", "bom", "judge", "runtime"},
    "hitl": {"hitl", "bom", "runtime"},
    "reflector": {"reflector", "runtime", "judge"},
    "stats_consumer": {"stats_consumer", "runtime"},
    "embedded": {"embedded", "runtime"},
    "replay": {"replay", "bom", "judge", "reflector", "runtime", "embedded", "local"},
    "publish": {"publish", "runtime"},
    "trace": {"trace", "runtime"},
    "report": {"report", "stats_consumer", "runtime"},
    "local": {"local", "embedded", "publish", "report", "stats_consumer", "trace", "runtime"},
    "cli": set(ROLES),
}
ONLY_FILE_FOR = {"faststream": {"workers/runtime/intake.py", "workers/runtime/security.py"}}
NO_IO = {"socket", "asyncio", "subprocess", "http", "httpx", "aiohttp", "redis", "aiokafka", "os", "pathlib", "shutil"}


class Arrow(NamedTuple):
    file: str
    line: int
    to: str


def arrows(root: Path = ROOT) -> Iterator[Arrow]:
    for package in OURS:
        for path in sorted((root / package).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    yield from (Arrow(name, node.lineno, alias.name) for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                    yield Arrow(name, node.lineno, node.module)
                    yield from (
                        Arrow(name, node.lineno, f"{node.module}.{alias.name}")
                        for alias in node.names
                        if node.module in OURS
                    )


def role(dotted: str) -> str | None:
    parts = dotted.replace("/", ".").split(".")
    return parts[1] if parts[0] == "workers" and len(parts) > 1 and parts[1] in ROLES else None


def wrong(arrow: Arrow) -> str | None:
    """Why an arrow is not allowed, or None."""
    package, target = arrow.file.split("/")[0], arrow.to.split(".")[0]
    if package in ("schemas", "stats"):
        if target in OURS and target != package:
            return f"{package} imports nothing of ours"
        if target in NO_IO:
            return f"{package} does no I/O"
    if target in ONLY_FILE_FOR and arrow.file not in ONLY_FILE_FOR[target]:
        return f"only {sorted(ONLY_FILE_FOR[target])} may know {target}"
    source, to = role(arrow.file), role(arrow.to)
    if source and to and to not in ROLE_MAY_IMPORT[source]:
        return f"workers/{source} may not import workers/{to}"
    return None


def test_every_arrow_points_the_right_way() -> None:
    found = [f"{a.file}:{a.line} imports {a.to}: {why}" for a in arrows() if (why := wrong(a))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "arrow",
    [
        Arrow("schemas/codec.py", 1, "stats.proportions"),
        Arrow("schemas/codec.py", 1, "asyncio"),
        Arrow("stats/band.py", 1, "schemas.verdicts"),
        Arrow("workers/judge/gate.py", 1, "faststream.kafka"),
        Arrow("workers/runtime/pump.py", 1, "workers.judge.gate"),
        Arrow("workers/judge/gate.py", 1, "workers.reflector.revision"),
    ],
)
def test_the_check_catches_a_wrong_arrow(arrow: Arrow) -> None:
    assert wrong(arrow)


def test_no_clock_in_what_is_said_and_computed() -> None:
    for package in ("schemas", "stats"):
        for path in (ROOT / package).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert "datetime.now" not in text, path
            assert "time.time(" not in text, path
