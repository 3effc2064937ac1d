"""``assay settings``: what can be set in the environment, and what is set now."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from workers.cli.context import clear_errors, settings_of
from workers.cli.output import console, print_json
from workers.runtime.settings import rows


def register(app: typer.Typer) -> None:
    app.command()(settings)


def settings(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="The README's table.")] = False,
) -> None:
    """Every setting, its default, its meaning and its value now; secrets are masked."""
    if markdown:
        typer.echo(markdown_table())
        return
    with clear_errors():
        given = settings_of()
    now = given.model_dump(mode="json")
    values = {row.env: _masked(now[row.env.removeprefix("ASSAY_").lower()], given.secrets) for row in rows()}
    if as_json:
        print_json([{**row._asdict(), "value": values[row.env]} for row in rows()])
        return
    table = Table(title="settings (environment)", title_justify="left")
    for column in ("setting", "now", "meaning"):
        table.add_column(column, overflow="fold")
    for row in rows():
        table.add_row(row.env, "" if values[row.env] is None else str(values[row.env]), row.meaning)
    console.print(table)


def _masked(value: object, secrets: list[str]) -> object:
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, "***")
    return value


def markdown_table() -> str:
    """The settings table of the README."""
    lines = ["| setting | default | meaning |", "|---|---|---|"]
    return "\n".join(
        [*lines, *(f"| `{r.env}` | {f'`{r.default}`' if r.default else ''} | {r.meaning} |" for r in rows())]
    )
