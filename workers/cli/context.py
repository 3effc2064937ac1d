"""What a command works with: settings, the cluster, the BOM. Every mistake of the user ends in one clear line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from schemas.bom import Bom
from schemas.errors import BadMessage, BomError, DependencyUnavailable, FatalError, SettingsError, TooManyDeadLetters
from workers.bom import load_bom, read_files
from workers.bom.example import example_bom
from workers.cli.output import Exit, fail
from workers.embedded.whereabouts import find, note_file
from workers.runtime.settings import Settings, load

_EXITS: tuple[tuple[type[Exception], Exit], ...] = (
    (SettingsError, Exit.USAGE),
    (BadMessage, Exit.USAGE),
    (BomError, Exit.BROKEN_BOM),
    (DependencyUnavailable, Exit.UNAVAILABLE),
    (TooManyDeadLetters, Exit.TOO_MANY_DEAD_LETTERS),
    (FatalError, Exit.FATAL),
)


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn the errors that the project raises on purpose into one line and an exit code."""
    try:
        yield
    except tuple(kind for kind, _ in _EXITS) as error:
        fail(str(error), next(code for kind, code in _EXITS if isinstance(error, kind)))


def settings_of(environ: dict[str, str] | None = None, **overrides: Any) -> Settings:
    """The settings of the environment, with a command's options over them (None = not given).

    Without ``ASSAY_BOM`` the example BOM is meant.
    """
    given = dict(os.environ if environ is None else environ)
    given.setdefault("ASSAY_BOM", str(example_bom()))
    given |= {f"ASSAY_{name.upper()}": str(value) for name, value in overrides.items() if value is not None}
    return load(given)


def cluster_settings(**overrides: Any) -> Settings:
    """Settings for a command that needs a running cluster: the environment's, else that of a running ``assay up``."""
    settings = settings_of(**overrides)
    if settings.kafka is not None:
        return settings
    where = find(note_file(os.environ))
    if where is None:
        raise DependencyUnavailable("no Kafka: set ASSAY_KAFKA=host:port, or run `assay up` in another terminal")
    return settings_of(kafka=where.kafka, redis=where.redis, **overrides)


def cluster_or_none() -> Settings | None:
    """The same where there is one; None where no Kafka is set and no ``assay up`` runs."""
    settings = settings_of()
    known = settings.kafka is not None or find(note_file(os.environ)) is not None
    return cluster_settings() if known else None


def bom_of(folder: Path | None) -> Bom:
    """A verified BOM: of the option, else of the settings."""
    return load_bom(read_files(folder if folder is not None else settings_of().bom))
