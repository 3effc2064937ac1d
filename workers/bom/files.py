"""The files of a BOM folder as a mapping of relative path to bytes: the only place that reads a BOM from disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from schemas.errors import BomError

MAX_BYTES = 64 * 1024 * 1024


def read_files(folder: Path) -> Mapping[str, bytes]:
    """Every regular file below the folder except hidden ones, keyed by its relative path with forward slashes.

    Raises BomError where there is no such folder, where a file cannot be read or is a link that leads out of it, and
    beyond 64 MiB in all.
    """
    if not folder.is_dir():
        raise BomError(f"no BOM folder at {folder}; name one with --bom or ASSAY_BOM")
    try:
        return _read(folder)
    except OSError as error:
        raise BomError(f"{error.filename or folder} cannot be read: {error.strerror}") from error


def _read(folder: Path) -> Mapping[str, bytes]:
    files: dict[str, bytes] = {}
    size = 0
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or any(part.startswith(".") for part in name.split("/")):
            continue
        if not path.resolve().is_relative_to(folder.resolve()):
            raise BomError(f"{name} is a link that leads out of {folder}; copy the file into the BOM")
        size += path.stat().st_size
        if size > MAX_BYTES:
            raise BomError(f"{folder} holds more than {MAX_BYTES} bytes; keep large files out of the BOM")
        files[name] = path.read_bytes()
    return files
