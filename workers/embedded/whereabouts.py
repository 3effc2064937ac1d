"""Where a running ``assay up`` has its embedded services, so that other commands of the same user find them."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from schemas.errors import DependencyUnavailable


class Whereabouts(NamedTuple):
    """Addresses of embedded services, and the process that keeps them."""

    kafka: str
    redis: str
    pid: int


def note_file(environ: Mapping[str, str]) -> Path:
    """The file that says where: below the user's own cache directory, which nobody else can write."""
    base = environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "assay" / "embedded.json"


def refuse_second(file: Path) -> None:
    """One note, one ``assay up``: a second one would leave the first out of every command's reach.

    Raises DependencyUnavailable while another process keeps embedded services.
    """
    other = find(file)
    if other is not None and other.pid != os.getpid():
        raise DependencyUnavailable(
            f"an `assay up` of yours runs already (pid {other.pid}, embedded broker at {other.kafka}): "
            "stop it first, or set ASSAY_KAFKA and ASSAY_REDIS to services of your own"
        )


def announce(where: Whereabouts, file: Path) -> None:
    """Leave the note; readable by this user alone. Raises OSError, and DependencyUnavailable as ``refuse_second``."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two that start in the same instant: the second one sees the first one's note
        refuse_second(file)
        file.unlink(missing_ok=True)  # of a process that has ended
        file.touch(mode=0o600, exist_ok=False)
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
