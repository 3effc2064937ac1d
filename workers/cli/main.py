"""The ``assay`` command. One module a command group; no logic of its own."""

from __future__ import annotations

import logging

import typer

from workers.cli import (
    bom,
    control,
    demo,
    dlq,
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

for group in (demo, run, publish, tail, trace, replay, judge, bom, control, topics, dlq, settings, plan, simulate):
    group.register(app)


def main() -> None:
    # Libraries that log a failure on top of raising it would say everything twice; `assay run` sets up its own log.
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        app(prog_name="assay")
    except KeyboardInterrupt:
        fail("interrupted", Exit.INTERRUPTED)


if __name__ == "__main__":
    main()
