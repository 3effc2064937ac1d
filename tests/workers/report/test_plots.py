"""Charts as files."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import pytest

from tests.workers.report.specimens import page_of, report
from tests.workers.report.test_rendering import said_by
from workers.report.plots import write_plots

_MAGIC = {"pdf": b"%PDF-", "png": b"\x89PNG", "svg": b"<?xml"}


@pytest.mark.parametrize("kind", list(_MAGIC))
def test_every_chart_becomes_a_file_of_the_kind_the_same_bytes_again(kind: str, tmp_path: Path) -> None:
    page = page_of(*said_by("c1"))
    first, second = (write_plots(page, tmp_path / name, kind) for name in ("a", "b"))
    assert len(first) >= 5
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes().startswith(_MAGIC[kind])
        assert one.read_bytes() == other.read_bytes()


def test_text_in_a_pdf_is_text(tmp_path: Path) -> None:
    paths = write_plots(page_of(*said_by("c1_spec_accuracy")), tmp_path, "pdf")
    data = next(path for path in paths if path.name == "2026-W48-generator-pass-rate-criteria.pdf").read_bytes()
    streams = [_inflated(found) for found in re.findall(rb"stream\r?\n(.*?)endstream", data, re.DOTALL)]
    shown = [b"".join(re.findall(rb"\(([^()]*)\)", stream)) for stream in streams]
    assert any(b"c1_spec_accuracy" in text for text in shown)


def test_no_file_is_named_by_somebody_else(tmp_path: Path) -> None:
    page = page_of(*said_by("../../evil"), report(bom="/etc/passwd"))
    paths = write_plots(page, tmp_path / "plots", "svg")
    assert {path.parent for path in paths} == {tmp_path / "plots"}
    assert all(re.fullmatch(r"2026-W48-(bom[12]-)?[a-z-]+\.svg", path.name) for path in paths)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["plots"]


def _inflated(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""
