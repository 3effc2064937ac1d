"""Real data for tests, read where it lies and never copied here. Absent is a loud skip; in CI it is a failure."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


def data_file(name: str) -> Path:
    """The path of a data file: under ``ASSAY_DATA``, else ``../shared/data`` beside the repository."""
    folder = Path(os.environ.get("ASSAY_DATA") or ROOT.parent / "shared" / "data")
    path = folder / name
    if not path.is_file():
        message = f"no {path}: set ASSAY_DATA to the folder that holds {name}"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return path


def data_rows(name: str) -> list[dict[str, Any]]:
    """The rows of a JSONL data file."""
    with data_file(name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]
