"""Where a running ``assay up`` has its embedded services, so that other commands of the same user find them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class Whereabouts(NamedTuple):
    """Addresses of embedded services, and the process that keeps them."""

    kafka: str
    redis: str
    pid: int


def note_file(environ: Mapping[str, str]) -> Path:
    """The file that says where: below the user's own cache directory, which nobody else can write."""
    base = environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "assay" / "embedded.json"


def announce(where: Whereabouts, file: Path) -> None:
    """Leave the note; readable by this user alone."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file.touch(mode=0o600)
    file.write_text(json.dumps(where._asdict()))


def withdraw(where: Whereabouts, file: Path) -> None:
    """Take the note away, unless another process has left its own since."""
    if find(file) == where:
        file.unlink(missing_ok=True)


def find(file: Path) -> Whereabouts | None:
    """The running embedded services, or None: no note, an unreadable one, or its process has ended."""
    try:
        where = Whereabouts(**json.loads(file.read_text()))
        os.kill(where.pid, 0)
    except (OSError, ValueError, TypeError):
        return None
    return where
