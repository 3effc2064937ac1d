from __future__ import annotations

from pathlib import Path

import pytest

from tests.workers.cli.shell import assay, environ

ROW = (
    '{"item_id": "a", "task_context": "x", "source": "s", "draft": "d", "raters": [], "meta": {},'
    ' "judges": [{"model": "j", "label": "maybe", "reason": "r"}]}\n'
)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (ROW.encode(), "mine.jsonl, line 1: judges.label: 'maybe' is not pass, fail or null"),
        (b"\xff\xfe", "is no text: byte 0 is not UTF-8"),
    ],
)
def test_a_mistake_in_the_callers_file_is_told_of_that_file(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_bytes(content)
    ended = assay("replay", file, "--judge", "j", env=environ(tmp_path))
    assert ended.code == 2
    assert said in ended.noted
