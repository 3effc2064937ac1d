"""The ``assay`` command. One module a command group; no logic of its own."""

from __future__ import annotations

import typer

from workers.cli import (
    bom,
    conformance,
    control,
    demo,
    judge,
    plan,
    publish,
    replay,
    run,
    settings,
    simulate,
    tail,
    topics,
    trace,
)
from workers.cli.output import Exit, fail

app = typer.Typer(
    name="assay",
    help="Event-driven workers that run an LLM judge over its whole life.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

for group in (
    demo,
    run,
    publish,
    tail,
    trace,
    replay,
    judge,
    conformance,
    bom,
    control,
    topics,
    settings,
    plan,
    simulate,
):
    group.register(app)


def main() -> None:
    try:
        app()
    except KeyboardInterrupt:
        fail("interrupted", Exit.FATAL)


if __name__ == "__main__":
    main()
