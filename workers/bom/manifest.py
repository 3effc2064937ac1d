"""The seal: a digest of every file, and the version that names them all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from schemas.errors import BomError
from schemas.ids import sha256_json

MANIFEST = "manifest.json"

CERTIFIED = "certified.json"
"""What the canary set's certified verdicts are. They are made *for* a version, so they cannot be under its digest."""

_OUTSIDE = frozenset({MANIFEST, CERTIFIED})


class Manifest(NamedTuple):
    """``version`` is ``bom-`` and the first 16 hex digits of the digest over all file digests."""

    version: str
    digest: str
    files: Mapping[str, str]

    def to_bytes(self) -> bytes:
        document = {"version": self.version, "digest": self.digest, "files": dict(sorted(self.files.items()))}
        return (json.dumps(document, indent=2) + "\n").encode()


def manifest_of(files: Mapping[str, bytes]) -> Manifest:
    """The manifest these files should have. The same files give the same version, wherever and whenever sealed."""
    digests = {name: hashlib.sha256(raw).hexdigest() for name, raw in files.items() if name not in _OUTSIDE}
    digest = sha256_json(digests)
    return Manifest(f"bom-{digest[:16]}", digest, digests)


def seal(folder: Path, files: Mapping[str, bytes]) -> Manifest:
    """Write the manifest of a folder and return it. Raises BomError when it cannot be written."""
    manifest = manifest_of(files)
    try:
        (folder / MANIFEST).write_bytes(manifest.to_bytes())
    except OSError as error:
        raise BomError(f"{folder / MANIFEST} cannot be written: {error.strerror}") from error
    return manifest


def verify(files: Mapping[str, bytes]) -> Manifest:
    """The sealed manifest, when it tells the truth about the files. Raises BomError naming what differs."""
    if MANIFEST not in files:
        raise BomError(f"the BOM is not sealed: {MANIFEST} is missing; review it, then run `assay bom seal`")
    actual = manifest_of(files)
    try:
        sealed = json.loads(files[MANIFEST])
        stated = Manifest(str(sealed["version"]), str(sealed["digest"]), dict(sealed["files"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BomError(f"{MANIFEST} cannot be read ({type(error).__name__}); run `assay bom seal`") from error
    if stated != actual:
        raise BomError(f"the BOM changed after it was sealed: {_difference(stated, actual)}; review, then seal again")
    return actual


def _difference(stated: Manifest, actual: Manifest) -> str:
    changed = sorted(
        name for name in {*stated.files, *actual.files} if stated.files.get(name) != actual.files.get(name)
    )
    return ", ".join(changed[:5]) if changed else f"{MANIFEST} states version {stated.version[:40]!r}"
