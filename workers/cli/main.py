"""The ``assay`` command. One module a command group; no logic of its own."""

from __future__ import annotations

import logging
import sys
from importlib import metadata
from typing import Annotated

import typer

from workers.cli import (
    bom,
    canary,
    conformance,
    control,
    demo,
    dlq,
    judge,
    labels,
    plan,
    prove,
    publish,
    replay,
    report,
    run,
    sample,
    settings,
    simulate,
    tail,
    topics,
    trace,
)
from workers.cli.output import Exit, complain

app = typer.Typer(
    name="assay",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

GROUPS = (
    demo, run, publish, tail, trace, prove, replay, judge, conformance, bom, canary, sample, labels, report, control,
    topics, dlq, settings, plan, simulate,
)  # fmt: skip

for group in GROUPS:
    group.register(app)


def _version(asked: bool) -> None:
    if asked:
        try:
            typer.echo(f"assay {metadata.version('assay')}")
        except metadata.PackageNotFoundError:
            typer.echo("assay, run from a source tree that is not installed")
        raise typer.Exit


@app.callback()
def assay(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Event-driven workers that run an LLM judge over its whole life."""


def main() -> None:
    """The entry point: a mistake in the arguments is one line, like every other mistake."""
    # Libraries that log a failure on top of raising it would say everything twice; a worker sets up its own log.
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        code = app(prog_name="assay", standalone_mode=False)
    except typer.TyperException as error:
        code = _usage(error)
    except (KeyboardInterrupt, typer.Abort):
        complain("interrupted")
        code = Exit.INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone: nothing is left to be said to them
        code = Exit.OK
    sys.exit(int(code or 0))


def _usage(error: typer.TyperException) -> Exit:
    what = error.format_message().rstrip(".").replace(": Value error, ", ": ")
    context = getattr(error, "ctx", None)
    if what:  # without arguments the help has been shown: that says it all
        complain(
            f"{what}{'' if what.endswith('?') else '.'} See `{context.command_path if context else 'assay'} --help`."
        )
    return Exit.USAGE


if __name__ == "__main__":
    main()
