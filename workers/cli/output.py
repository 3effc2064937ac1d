"""How every command speaks: tables and notes for people on a terminal, one JSON document with ``--json``."""

from __future__ import annotations

import sys
from enum import IntEnum
from typing import Any, NoReturn

import orjson
import typer
from rich.console import Console

from workers.runtime.printable import escaped

console = Console()
"""Results. Pipe-able: nothing but the answer goes to standard output."""

notes = Console(stderr=True)
"""Progress, hints and errors."""


class Exit(IntEnum):
    """What an exit code of ``assay`` means."""

    OK = 0
    FOUND = 1  # the command worked and what it checked does not hold
    USAGE = 2  # the caller's input is wrong; the line on stderr says what to change
    UNAVAILABLE = 3  # Kafka, Redis or a model cannot be reached
    BROKEN_BOM = 4  # the bill of materials does not verify
    FATAL = 5  # a worker stopped itself; the log says why
    TOO_MANY_DEAD_LETTERS = 6  # a worker stopped itself, and starting it again would set as many records aside again
    INTERRUPTED = 130  # Ctrl-C, as shells have it


def print_json(document: Any) -> None:
    """One JSON document on standard output. NaN cannot be written: orjson refuses what it does not know."""
    sys.stdout.write(orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE).decode())
    sys.stdout.flush()


def counted(number: int, noun: str) -> str:
    """``1 draft``, ``3 drafts``, ``2,500 drafts``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def fail(message: str, code: Exit = Exit.USAGE) -> NoReturn:
    """End the command with one clear line: no traceback for a user's mistake."""
    complain(message)
    raise typer.Exit(int(code))


def complain(message: str) -> None:
    """A mistake, on standard error. File names, settings and values in it are other people's text."""
    shown = "\n".join(map(escaped, message.split("\n")))
    notes.print(f"assay: {shown}", style="red", markup=False, highlight=False, soft_wrap=True)
