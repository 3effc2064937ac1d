"""The README tells the truth: its tables are generated, its commands exist, its links lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from scripts.readme_tables import README, written
from workers.cli.main import app
from workers.cli.output import Exit

TEXT = README.read_text(encoding="utf-8")
PAGES = sorted(README.parent.glob("*.md")) + sorted((README.parent / "docs").rglob("*.md"))


def test_the_tables_are_as_the_code_has_them() -> None:
    assert written(TEXT) == TEXT, "run `make docs`"


def test_a_table_that_was_changed_by_hand_is_found() -> None:
    changed = TEXT.replace("| `drafts` |", "| `draughts` |")
    assert changed != TEXT
    assert written(changed) == TEXT


def commands() -> list[str]:
    """Every ``assay ...`` in a code block or between backticks; placeholders and comments cut off."""
    blocks = [line.split("#")[0] for line in TEXT.splitlines() if line.startswith("    ")]
    quoted = re.findall(r"`(assay [^`]*)`", TEXT)
    found = [re.search(r"(?:^|\s)(assay\s.*)$", line) for line in [*blocks, *quoted]]
    return sorted({match[1].strip() for match in found if match})


def exists(command: str) -> bool:
    """Whether the words name a command, and its options are known to it."""
    from typer.main import get_command

    node = get_command(app)
    words = shlex.split(command)[1:]
    while words and hasattr(node, "commands") and words[0] in node.commands:
        node = node.commands[words.pop(0)]
    options = {name for parameter in node.params for name in parameter.opts} | {"--help"}
    is_group = bool(getattr(node, "commands", None)) and not getattr(node, "invoke_without_command", False)
    return not is_group and all(word in options for word in words if word.startswith("--"))


def test_every_command_exists_with_its_options() -> None:
    found = commands()
    assert len(found) > 8
    assert [command for command in found if not exists(command)] == []


@pytest.mark.parametrize("command", ["assay judge", "assay frobnicate", "assay publish --jsn"])
def test_a_command_that_does_not_exist_is_found(command: str) -> None:
    assert not exists(command)


def test_every_exit_code_is_explained() -> None:
    table = re.findall(r"^\| (\d+) \| .+ \|$", TEXT, re.MULTILINE)
    assert sorted(map(int, table)) == sorted(code.value for code in Exit)


def test_every_make_target_exists() -> None:
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    named = set(re.findall(r"(?:^    |`)make ([a-z]+)", TEXT, re.MULTILINE))
    assert {"demo", "test"} <= named
    assert named <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    anchors = {_anchor(title) for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("#"):
            assert target[1:] in anchors, target
        elif not target.startswith(("http://", "https://", "mailto:")):
            assert (page.parent / target.split("#")[0]).exists(), target


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
